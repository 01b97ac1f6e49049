//! The reference page, made from the types of the messages.

use std::fmt::Write as _;

use crate::error::ErrorCode;
use crate::message::{FromServer, ToServer};
use crate::message_kind::MessageKind;
use crate::wire::{Contract as _, LINE_LIMIT, PROTOCOL};

/// Returns the reference of the bus as a Markdown page.
#[must_use]
pub fn reference() -> String {
    let mut page = format!(
        "# The message bus\n\n\
         <!-- Made from the messages in `crates/hookrail-bus/src/payload`; edit that, not this file. -->\n\n\
         Protocol {PROTOCOL}. One JSON object per line, in UTF-8, with `type` and `payload`; a line has at most \
         {LINE_LIMIT} bytes without its end. Empty lines are skipped. Fields that are not listed are ignored, and fields \
         may be added; an optional field may be null. Answers come in any order.\n\n\
         A message that cannot be served is answered by a `HOOK_EXECUTION_RESPONSE` with `success: false` and an error. Its \
         `correlationId` is that of the message, or a generated one.\n"
    );
    for (title, kinds) in
        [("Messages from a client", ToServer::kinds()), ("Messages from a server", FromServer::kinds())]
    {
        let _ = write!(page, "\n## {title}\n");
        for message in kinds {
            describe(&mut page, message);
        }
    }
    page.push_str("\n## Error codes\n\n| code | meaning |\n|---|---|\n");
    for code in ErrorCode::ALL {
        let _ = writeln!(page, "| `{code}` | {} |", code.about());
    }
    page.push_str("\nA request that was not executed was not guarded: treat it like a guard that cannot be run.\n");
    page
}

fn describe(page: &mut String, message: &MessageKind) {
    let _ = write!(
        page,
        "\n### `{}`\n\n{} Schema: [`{name}.json`](../../schemas/bus/{name}.json).\n\n| field | holds | |\n|---|---|---|\n",
        message.name,
        message.about,
        name = message.schema_name()
    );
    for field in message.fields() {
        let optional = if field.is_required { "" } else { ", optional" };
        let _ = writeln!(page, "| `{}` | {}{optional} | {} |", field.name, field.described(), field.about());
    }
}
