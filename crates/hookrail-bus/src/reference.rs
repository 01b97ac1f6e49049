//! The reference page, made from the table.

use std::fmt::Write as _;

use crate::error::ErrorCode;
use crate::schema::file_name;
use crate::spec::{MESSAGES, MessageSpec, Side};
use crate::{LINE_LIMIT, PROTOCOL};

/// The reference of the bus as a page of Markdown.
#[must_use]
pub fn reference() -> String {
    let mut page = format!(
        "# The message bus\n\n\
         <!-- Made from the table of messages in `crates/hookrail-bus/src/spec.rs`; edit that, not this file. -->\n\n\
         Protocol {PROTOCOL}. One JSON object per line, in UTF-8, with `type` and `payload`; a line has at most \
         {LINE_LIMIT} bytes without its end. Empty lines are skipped. Fields that are not listed are ignored, and fields \
         may be added; an optional field may be null. Answers come in any order.\n\n\
         Whatever cannot be served is answered by a `HOOK_EXECUTION_RESPONSE` with `success: false` and an error, under \
         the name the message has or a name that is made up.\n"
    );
    for (side, title) in [(Side::Client, "What a client says"), (Side::Server, "What a server says")] {
        let _ = write!(page, "\n## {title}\n");
        for message in MESSAGES.iter().filter(|message| message.from == side) {
            describe(&mut page, message);
        }
    }
    page.push_str("\n## Error codes\n\n| code | meaning |\n|---|---|\n");
    for code in ErrorCode::ALL {
        let _ = writeln!(page, "| `{code}` | {} |", code.about());
    }
    page.push_str(
        "\nA request that was not executed was not guarded: treat it as you would treat a guard that cannot be asked.\n",
    );
    page
}

fn describe(page: &mut String, message: &MessageSpec) {
    let _ = write!(
        page,
        "\n### `{}`\n\n{} Schema: [`{name}.json`](../../schemas/bus/{name}.json).\n\n| field | holds | |\n|---|---|---|\n",
        message.name,
        message.about,
        name = file_name(message)
    );
    for field in message.fields {
        let optional = if field.required { "" } else { ", optional" };
        let holds = field.kind.described();
        let _ = writeln!(page, "| `{}` | {holds}{optional} | {} |", field.name, field.about);
    }
}
