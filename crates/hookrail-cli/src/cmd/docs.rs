//! `hookrail docs`: prints a page of the documentation, found by the words of its title.

use clap::ValueEnum as _;
use hookrail_app::failure::{Failure, Result};
use hookrail_app::pages::{PAGES, Page, find_pages, similar_word};
use hookrail_app::text::counted;

use crate::args::{DocsArgs, ReferencePage};
use crate::cmd::exit::Exit;
use crate::cmd::reference;
use crate::output;
use crate::output::pager::LongOutput;
use crate::render;
use crate::render::style::{HEADING, HINT, paint};
use crate::render::width;

pub(crate) fn run(args: &DocsArgs) -> Result<Exit> {
    if args.words.is_empty() {
        show(&all())?;
        return Ok(Exit::Fine);
    }
    let found = find_pages(&args.words);
    match found.as_slice() {
        [] => return Err(no_page(&args.words)),
        [page] => {
            let markdown = page.readable(made);
            match width::of_stdout() {
                Some(columns) => show(&render::page::page(&markdown, columns))?,
                None => output::verbatim(&markdown)?,
            }
        }
        pages => {
            let count = counted(pages.len(), "page");
            let words = args.words.join(" ");
            output::text(&format!("{count} about `{words}`\n\n{}", list(pages.iter().copied())))?;
        }
    }
    Ok(Exit::Fine)
}

/// A page that is made from tables, by the name of its file.
fn made(name: &str) -> String {
    ReferencePage::from_str(name, false).map(reference::page).unwrap_or_default()
}

/// Shows a long text, with a pager on a terminal.
fn show(text: &str) -> Result<()> {
    let mut output = LongOutput::paged();
    output.text(text)?;
    output.finish()
}

fn no_page(words: &[String]) -> Failure {
    let given = words.join(" ");
    let failure = Failure::new(format!("there is no page about `{given}`"));
    match similar_word(words) {
        Some(word) => failure.hint(format!("did you mean `{word}`? `hookrail docs` lists the pages")),
        None => failure.hint("`hookrail docs` lists the pages"),
    }
}

fn all() -> String {
    let mut text = list(PAGES.iter());
    text.push_str("\n`hookrail docs WORD` prints the page with this word in its title or path.\n");
    text
}

/// The pages under the names of their parts.
fn list<'p>(pages: impl Iterator<Item = &'p Page> + Clone) -> String {
    let width = pages.clone().map(|page| page.topic.len()).max().unwrap_or_default();
    let mut text = String::new();
    let mut last = "";
    for Page { part, topic, title, .. } in pages {
        if *part != last {
            let gap = if last.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}{}\n", paint(HEADING, part)));
            last = part;
        }
        text.push_str(&format!("  {}  {title}\n", paint(HINT, format!("{topic:width$}"))));
    }
    text
}
