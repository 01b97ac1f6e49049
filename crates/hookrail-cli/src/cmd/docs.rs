//! `hookrail docs`: prints a page of the documentation.

use hookrail_app::failure::{Failure, Result};
use hookrail_app::pages::{PAGES, Page, REFERENCE, readable_page};

use crate::args::DocsArgs;
use crate::cmd::exit::Exit;
use crate::output;
use crate::render::style::{HEADING, HINT, paint};

pub(crate) fn run(args: &DocsArgs) -> Result<Exit> {
    let Some(topic) = &args.topic else {
        output::text(&list())?;
        return Ok(Exit::Fine);
    };
    let Some(page) = readable_page(topic) else {
        return Err(Failure::new(format!("there is no page `{topic}`")).hint("`hookrail docs` lists the topics"));
    };
    output::verbatim(&page)?;
    Ok(Exit::Fine)
}

fn list() -> String {
    let width = PAGES.iter().map(|page| page.topic.len()).max().unwrap_or_default();
    let mut text = String::new();
    let mut last = "";
    for Page { part, topic, title, .. } in PAGES {
        if *part != last {
            let gap = if last.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}{}\n", paint(HEADING, part)));
            last = part;
        }
        text.push_str(&format!("  {}  {title}\n", paint(HINT, format!("{topic:width$}"))));
    }
    text.push_str("\n`hookrail docs TOPIC` prints a page.\n");
    text.push_str(&format!("`hookrail reference PAGE` prints the reference: {}.\n", REFERENCE.join(", ")));
    text
}
