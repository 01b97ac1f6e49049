//! Aligned columns.

use std::fmt::Write as _;

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::style::{PLAIN, QUIET, paint};

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
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<TableRow>,
}

struct TableRow {
    cells: Vec<Cell>,
    /// Lines below the row, further to the right.
    notes: Vec<String>,
}

impl Table {
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
        let columns = self.rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|at| self.rows.iter().filter_map(|row| row.cells.get(at)).map(|cell| cell.text.width()).max())
            .map(Option::unwrap_or_default)
            .collect();
        let mut out = String::new();
        for row in &self.rows {
            out.push_str(&line(row, &widths, indent));
            for note in &row.notes {
                let indent = indent + 4;
                let _ = writeln!(out, "{:indent$}{}", "", super::text::hanging(note, indent));
            }
        }
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
        assert_eq!(table.render(1), " a     long  x\n 日本        y\n b     z\n");
    }
}
