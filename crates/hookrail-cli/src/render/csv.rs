//! Tables as comma-separated values, one row in one line.

use hookrail_app::text::one_line;

/// One row with its line end.
///
/// Hidden characters are escaped as they are for people. A text that a spreadsheet would calculate begins with an apostrophe:
/// commands and reasons are not the user's own.
pub(crate) fn row<'c>(cells: impl IntoIterator<Item = &'c str>) -> String {
    let cells: Vec<String> = cells.into_iter().map(cell).collect();
    format!("{}\n", cells.join(","))
}

fn cell(text: &str) -> String {
    let mut shown = one_line(text);
    if shown.starts_with(['=', '+', '-', '@']) && shown.parse::<f64>().is_err() {
        shown.insert(0, '\'');
    }
    if shown.contains([',', '"']) { format!("\"{}\"", shown.replace('"', "\"\"")) } else { shown }
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn cells_are_quoted_escaped_and_never_calculated() {
        assert_eq!(row(["plain", "", "a,b", "say \"no\""]), "plain,,\"a,b\",\"say \"\"no\"\"\"\n");
        assert_eq!(row(["=1+1", "@SUM(A1)", "-rf", "-1.5"]), "'=1+1,'@SUM(A1),'-rf,-1.5\n");
        let hostile = row(["a\nb", "\u{1b}[2J"]);
        assert!(hostile.lines().count() == 1 && !hostile.contains('\u{1b}'), "{hostile:?}");
    }
}
