//! What a shell line would do.

use hookrail_app::text::{one_line, short};
use hookrail_shell::{Accesses, Fact, PathUse, Span};

use super::table::{Cell, Table};
use crate::render::style::{CAREFUL, GOOD, HEADING, PLAIN, paint};

/// Lists every fact with the words it comes from, and what is not known.
pub(crate) fn report(line: &str, accesses: &Accesses) -> String {
    let mut table = Table::default();
    let mut row = |kind: &'static str, what: String, words: String| {
        table.row([Cell::new(kind, HEADING), Cell::plain(one_line(&what)), Cell::quiet(words)]);
    };
    for command in &accesses.commands {
        let via = if command.via.is_empty() { String::new() } else { format!(" (through {})", command.via.join(", ")) };
        row("runs", format!("{}{via}", command.program), words(line, command.span));
    }
    for (kind, paths) in [("reads", &accesses.reads), ("writes", &accesses.writes), ("deletes", &accesses.deletes)] {
        for Fact { what: PathUse { path, .. }, span, .. } in paths {
            row(kind, path.clone(), words(line, *span));
        }
    }
    for fact in &accesses.executes {
        row("executes", fact.what.text(), words(line, fact.span));
    }
    for fact in &accesses.network {
        row("connects to", fact.what.text(), words(line, fact.span));
    }
    for fact in &accesses.git {
        row("git", fact.what.name().replace('_', "-"), words(line, fact.span));
    }
    for flow in &accesses.flow {
        row("flow", flow.kind.name().to_owned(), words(line, flow.span));
    }
    if let Some(span) = accesses.env_dump {
        row("prints", "all variables".to_owned(), words(line, span));
    }
    let known = table.render(0);
    let mut unknown = Table::default();
    for it in &accesses.unknown {
        let facts: Vec<&str> = it.facts.kinds().map(hookrail_shell::FactKind::name).collect();
        let class = Cell::new(it.why.class().name(), CAREFUL);
        let why = Cell::new(format!("{}: more {} are possible", it.why.text(), facts.join(", ")), PLAIN);
        unknown.row([class, why, Cell::quiet(words(line, it.span))]);
    }
    let unknown = unknown.render(0);
    match (known.is_empty(), unknown.is_empty()) {
        (true, true) => format!("{}\n", paint(GOOD, "the line does nothing")),
        (_, true) => known,
        (_, false) => format!("{known}\n{}\n{unknown}", paint(HEADING, "not known")),
    }
}

fn words(line: &str, span: Span) -> String {
    let text = line.get(span.start as usize..span.end as usize).unwrap_or_default();
    short(&one_line(text), 60)
}
