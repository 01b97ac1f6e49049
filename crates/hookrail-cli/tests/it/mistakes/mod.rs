//! The mistakes that authors of hooks make, and what `check` and `fire` say about each.
//!
//! A row makes a project with one mistake. The test runs `check` and `fire` in it and looks for the diagnostic that the
//! row names; every diagnostic of the page has a file and a fix. The page `docs/reference/messages.md` is made of the
//! same rows.
//!
//! `HOOKRAIL_ROWS=text` runs only the rows whose name contains the text.

#![cfg(unix)]

mod answers;
mod page;
mod plugins;
mod row;
mod scripts;
mod settings;

use row::Row;

/// Every row, by section.
fn sections() -> Vec<(&'static str, Vec<Row>)> {
    vec![
        ("Settings files", settings::rows()),
        ("Matchers and timeouts", settings::matchers()),
        ("Scripts and commands", scripts::rows()),
        ("Answers", answers::rows()),
        ("Plugins", plugins::rows()),
        ("Modules", plugins::modules()),
    ]
}
