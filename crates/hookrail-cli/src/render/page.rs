//! A page of the documentation as a terminal shows it: without the marks of Markdown. The lines are broken later.

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use super::style::{HEADING, HINT, QUIET, paint};
use super::width::display_width;

/// How far a block of code stands to the right.
const INDENT: &str = "    ";

/// Renders a page for a terminal with so many columns.
pub(crate) fn page(markdown: &str, columns: usize) -> String {
    let mut out = String::new();
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        // A mark that was taken out leaves two.
        if line.is_empty() && out.ends_with("\n\n") {
            continue;
        }
        if line.starts_with("```") {
            for code in lines.by_ref().take_while(|line| !line.starts_with("```")) {
                out.push_str(&format!("{INDENT}{}\n", paint(QUIET, code)));
            }
        } else if line.starts_with('#') {
            out.push_str(&format!("{}\n", paint(HEADING, inline(line.trim_start_matches('#').trim(), HEADING))));
        } else if line.starts_with('|') {
            let mut rows = vec![cells(line)];
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                rows.push(cells(row));
            }
            out.push_str(&table(&rows, columns));
        } else {
            let mut paragraph = line.trim_end().to_owned();
            while let Some(next) = lines.next_if(|next| continues(&paragraph, next)) {
                paragraph.push(' ');
                paragraph.push_str(next.trim());
            }
            out.push_str(&format!("{}\n", inline(&paragraph, Style::new())));
        }
    }
    out
}

/// Whether a line belongs to the paragraph or the item before it.
fn continues(before: &str, line: &str) -> bool {
    let text = line.trim_start();
    let is_item = ["- ", "* ", "> "].iter().any(|mark| text.starts_with(mark))
        || text.split_once(". ").is_some_and(|(number, _)| number.chars().all(|digit| digit.is_ascii_digit()));
    let is_block = ["#", "|", "```"].iter().any(|mark| text.starts_with(mark));
    !before.is_empty() && !text.is_empty() && !is_item && !is_block
}

/// The cells of a row. A bar behind a backslash is text.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|').trim_end_matches('|').replace("\\|", "\u{0}");
    row.split('|').map(|cell| inline(cell.trim(), Style::new()).replace('\u{0}', "|")).collect()
}

/// A table in columns if it fits, else each row as its first cell with the others below.
fn table(rows: &[Vec<String>], columns: usize) -> String {
    let has_text = |row: &&Vec<String>| row.iter().any(|cell| cell.chars().any(|c| !matches!(c, '-' | ':')));
    let rows: Vec<&Vec<String>> = rows.iter().filter(has_text).collect();
    let Some((head, body)) = rows.split_first() else { return String::new() };
    let count = rows.iter().map(|row| row.len()).max().unwrap_or_default();
    let width_of = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| display_width(cell)).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..count).map(width_of).collect();
    let mut out = String::new();
    if widths.iter().sum::<usize>() + 2 * count <= columns {
        for (at, row) in rows.iter().enumerate() {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                let gap = " ".repeat(width.saturating_sub(display_width(cell)) + 2);
                let cell = if at == 0 { paint(HEADING, cell) } else { cell.clone() };
                line.push_str(&format!("{cell}{gap}"));
            }
            out.push_str(&format!("{}\n", line.trim_end()));
        }
        return out;
    }
    for row in body {
        let mut cells = row.iter().zip(head.iter());
        if let Some((first, _)) = cells.next() {
            out.push_str(&format!("{}\n", paint(HEADING, first)));
        }
        for (cell, name) in cells.filter(|(cell, _)| !cell.is_empty()) {
            let name = if name.width() == 0 { String::new() } else { format!("{name}: ") };
            out.push_str(&format!("{INDENT}{name}{cell}\n"));
        }
    }
    out
}

/// A text without the marks of code, emphasis and links, in a style that continues behind them.
fn inline(text: &str, around: Style) -> String {
    let mut out = String::new();
    for (at, part) in without_links(text).split('`').enumerate() {
        if at % 2 == 1 {
            // Stars inside of code are no marks.
            out.push_str(&format!("{}{around}", paint(HINT, part.replace('*', "\u{1}"))));
        } else {
            out.push_str(part);
        }
    }
    let mut text = String::new();
    for (at, part) in out.split("**").enumerate() {
        let part = if at % 2 == 1 { format!("{}{around}", paint(HEADING, part)) } else { part.to_owned() };
        text.push_str(&part);
    }
    text.replace('\u{1}', "*")
}

/// A text with the words of links, and with their targets where a terminal can use them: a command, or an address.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, words, target, after)) = link(rest) {
        out.push_str(before);
        out.push_str(words);
        if target.starts_with("hookrail ") || target.contains("://") {
            out.push_str(&format!(" ({target})"));
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The first link of a text: what is before it, its words, its target, what is behind it.
fn link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let (head, tail) = text.split_once("](")?;
    let (before, words) = head.rsplit_once('[')?;
    let (target, after) = tail.split_once(')')?;
    Some((before, words, target, after))
}

#[cfg(test)]
mod tests {
    use super::page;

    fn plain(markdown: &str, columns: usize) -> String {
        anstream::adapter::strip_str(&page(markdown, columns)).to_string()
    }

    #[test]
    fn a_page_has_no_marks_on_a_terminal() {
        let markdown = "# A `page`\n\nText with **strong** words,\n`src/**` and [a `page`](hookrail docs trust), [here](#x).\n\n\
            - one\n  item\n- another\n\n1. first\n2. second\n\n```console\n$ echo '[a](b) **c** | d'\n```\n\n\
            | key | meaning |\n|---|---|\n| `a\\|b` | one of them |\n";
        insta::assert_snapshot!(plain(markdown, 80), @r"
        A page

        Text with strong words, src/** and a page (hookrail docs trust), here.

        - one item
        - another

        1. first
        2. second

            $ echo '[a](b) **c** | d'

        key  meaning
        a|b  one of them
        ");
    }

    #[test]
    fn a_table_that_is_too_wide_is_a_list() {
        let markdown =
            "| key | meaning | default |\n|---|---|---|\n| one | a long meaning of it | 1 |\n| two | another | |\n";
        insta::assert_snapshot!(plain(markdown, 20), @r"
        one
            meaning: a long meaning of it
            default: 1
        two
            meaning: another
        ");
    }
}
