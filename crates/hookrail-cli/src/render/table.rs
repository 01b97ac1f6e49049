//! Aligned columns.

use std::fmt::Write as _;

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::width;
use crate::render::style::{HEADING, PLAIN, QUIET, paint};

/// One cell: text on one line without hidden characters, in a style.
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }

    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::new(text, PLAIN)
    }

    pub(crate) fn quiet(text: impl Into<String>) -> Self {
        Self::new(text, QUIET)
    }
}

/// Rows of cells. A column is as wide as its widest cell; a column that is empty in every row is left out.
///
/// On a terminal that is too narrow for all columns, the cells of a row follow each other and continue on the next line.
#[derive(Default)]
pub(crate) struct Table {
    /// The names of the columns; none if the cells explain themselves.
    heads: Vec<&'static str>,
    rows: Vec<TableRow>,
}

struct TableRow {
    cells: Vec<Cell>,
    /// Lines below the row, further to the right.
    notes: Vec<String>,
}

impl Table {
    /// A table whose first line names the columns. Where the cells of a row follow each other, each has its name.
    pub(crate) fn with_heads<const N: usize>(heads: [&'static str; N]) -> Self {
        Self { heads: heads.into(), rows: Vec::new() }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        self.rows.push(TableRow { cells: cells.into(), notes: Vec::new() });
    }

    /// Adds lines below the last row.
    pub(crate) fn note(&mut self, text: String) {
        if let Some(row) = self.rows.last_mut() {
            row.notes.push(text);
        }
    }

    /// Renders the rows, each on a line that begins with this many spaces.
    pub(crate) fn render(&self, indent: usize) -> String {
        self.render_within(indent, width::of_stdout())
    }

    fn render_within(&self, indent: usize, available: Option<usize>) -> String {
        let heads =
            TableRow { cells: self.heads.iter().map(|head| Cell::new(*head, HEADING)).collect(), notes: Vec::new() };
        let rows = || std::iter::once(&heads).filter(|row| !row.cells.is_empty()).chain(&self.rows);
        let columns = rows().map(|row| row.cells.len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|at| rows().filter_map(|row| row.cells.get(at)).map(|cell| cell.text.width()).max())
            .map(Option::unwrap_or_default)
            .collect();
        let used = widths.iter().filter(|width| **width > 0);
        let needed = indent + used.clone().sum::<usize>() + 2 * used.count().saturating_sub(1);
        let narrow = available.filter(|available| needed > *available);
        let mut out = String::new();
        for row in rows() {
            match narrow {
                Some(available) if !std::ptr::eq(row, &heads) => out.push_str(&self.flowing(row, indent, available)),
                Some(_) => {}
                None => out.push_str(&line(row, &widths, indent)),
            }
            for note in &row.notes {
                let indent = indent + 4;
                let _ = writeln!(out, "{:indent$}{}", "", hookrail_app::text::hanging(note, indent));
            }
        }
        out
    }

    /// The cells of a row one after the other, on as many lines as they need.
    fn flowing(&self, row: &TableRow, indent: usize, available: usize) -> String {
        let mut out = " ".repeat(indent);
        let mut used = indent;
        for (at, cell) in row.cells.iter().enumerate().filter(|(_, cell)| !cell.text.is_empty()) {
            let head = self.heads.get(at).filter(|_| at > 0).map(|head| format!("{head} ")).unwrap_or_default();
            let wide = head.width() + cell.text.width();
            if used > indent && used + 2 + wide > available {
                let _ = write!(out, "\n{:1$}", "", indent + 2);
                used = indent + 2;
            } else {
                let gap = if used > indent { 2 } else { 0 };
                out.push_str(&" ".repeat(gap));
                used += gap;
            }
            out.push_str(&paint(QUIET, &head));
            used += head.width();
            for (number, piece) in width::pieces(&cell.text, available, used, indent + 4).into_iter().enumerate() {
                if number > 0 {
                    let _ = write!(out, "\n{:1$}", "", indent + 4);
                    used = indent + 4;
                }
                out.push_str(&paint(cell.style, piece));
                used += piece.width();
            }
        }
        out.push('\n');
        out
    }
}

fn line(row: &TableRow, widths: &[usize], indent: usize) -> String {
    let mut out = " ".repeat(indent);
    // Spaces are written only when a cell follows them, so that no line ends in spaces.
    let mut pending = 0;
    for (cell, width) in row.cells.iter().zip(widths).filter(|(_, width)| **width > 0) {
        if !cell.text.is_empty() {
            out.push_str(&" ".repeat(pending));
            out.push_str(&paint(cell.style, &cell.text));
            pending = 0;
        }
        pending += width - cell.text.width() + 2;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_nothing_trails() {
        let mut table = Table::default();
        table.row([Cell::plain("a"), Cell::plain(""), Cell::plain("long"), Cell::plain("x")]);
        table.row([Cell::plain("日本"), Cell::plain(""), Cell::plain(""), Cell::plain("y")]);
        table.row([Cell::plain("b"), Cell::plain(""), Cell::plain("z"), Cell::plain("")]);
        assert_eq!(table.render_within(1, None), " a     long  x\n 日本        y\n b     z\n");
    }

    #[test]
    fn a_cell_that_is_wider_than_the_terminal_is_broken() {
        let mut table = Table::default();
        table.row([
            Cell::plain("on"),
            Cell::plain("a-hook-with-a-very-long-name"),
            Cell::quiet(".llxprt/hooks/long.sh:12"),
        ]);
        let text = anstream::adapter::strip_str(&table.render_within(2, Some(20))).to_string();
        assert_eq!(text, "  on\n    a-hook-with-a-\n      very-long-name\n    .llxprt/hooks/\n      long.sh:12\n");
    }

    #[test]
    fn a_narrow_terminal_shows_the_cells_of_a_row_one_after_the_other() {
        let mut table = Table::with_heads(["hook", "runs", "failed"]);
        table.row([Cell::plain("guard-of-secrets"), Cell::plain("12"), Cell::plain("3")]);
        table.row([Cell::plain("b"), Cell::plain("1"), Cell::plain("")]);
        let plain = |text: String| anstream::adapter::strip_str(&text).to_string();
        assert_eq!(plain(table.render_within(0, Some(24))), "guard-of-secrets\n  runs 12  failed 3\nb  runs 1\n");
        assert_eq!(
            plain(table.render_within(0, Some(40))),
            "hook              runs  failed\nguard-of-secrets  12    3\nb                 1\n"
        );
    }
}
