//! `hookrail reference`: pages of the reference, generated from the tables that the engine itself uses.

mod commands;

use hookrail_app::failure::Result;
use hookrail_app::reference::{self, GENERATED};

use crate::args::{ReferenceArgs, ReferencePage};
use crate::cmd::exit::Exit;
use crate::output;

pub(crate) fn run(args: &ReferenceArgs) -> Result<Exit> {
    output::verbatim(&page(args.page))?;
    Ok(Exit::Fine)
}

/// The text of a page.
pub(super) fn page(page: ReferencePage) -> String {
    match page {
        ReferencePage::Commands => commands::page(GENERATED),
        ReferencePage::Events => reference::events(),
        ReferencePage::Diagnostics => reference::diagnostics(),
        ReferencePage::Bus => hookrail_bus::reference(),
        ReferencePage::Configuration => reference::configuration(),
        ReferencePage::TestCases => reference::test_cases(),
    }
}
