//! The colours of the reference agent, by the names that module hooks know.

use anstyle::{AnsiColor, Style};

const PLAIN: Style = Style::new();

/// The colours of texts.
const TEXTS: &[(&str, Style)] = &[
    ("accent", AnsiColor::Cyan.on_default()),
    ("border", AnsiColor::Blue.on_default()),
    ("borderAccent", AnsiColor::Cyan.on_default()),
    ("borderMuted", PLAIN.dimmed()),
    ("success", AnsiColor::Green.on_default()),
    ("error", AnsiColor::Red.on_default()),
    ("warning", AnsiColor::Yellow.on_default()),
    ("muted", PLAIN.dimmed()),
    ("dim", PLAIN.dimmed()),
    ("customMessageLabel", AnsiColor::Magenta.on_default()),
    ("toolTitle", PLAIN.bold()),
    ("mdHeading", AnsiColor::Yellow.on_default()),
    ("mdLink", AnsiColor::Blue.on_default()),
    ("mdLinkUrl", PLAIN.dimmed()),
    ("mdCode", AnsiColor::Cyan.on_default()),
    ("mdCodeBlock", AnsiColor::Green.on_default()),
    ("mdQuote", PLAIN.dimmed()),
    ("mdListBullet", AnsiColor::Cyan.on_default()),
    ("toolDiffAdded", AnsiColor::Green.on_default()),
    ("toolDiffRemoved", AnsiColor::Red.on_default()),
    ("bashMode", AnsiColor::Green.on_default()),
];

/// Returns a text in a style. An unknown name changes nothing.
pub(super) fn styled(style: &str, text: &str) -> String {
    let style = match style.split_once(':') {
        Some(("fg", name)) => TEXTS.iter().find(|(known, _)| *known == name).map_or(PLAIN, |(_, style)| *style),
        Some(("bg", "selectedBg")) => PLAIN.invert(),
        Some(_) => PLAIN,
        None => match style {
            "bold" => PLAIN.bold(),
            "italic" => PLAIN.italic(),
            "underline" => PLAIN.underline(),
            "strikethrough" => PLAIN.strikethrough(),
            "inverse" => PLAIN.invert(),
            _ => PLAIN,
        },
    };
    format!("{style}{text}{style:#}")
}
