//! The rows of this crate. Each is read when its program is first looked for: reading all of them takes longer than
//! starting a program, and a line uses few.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use super::row::Row;

const TEXTS: [&str; 3] = [include_str!("programs.toml"), include_str!("wrappers.toml"), include_str!("services.toml")];
/// The line before a row.
const HEAD: &str = "[[program]]\n";

static OWN: LazyLock<OwnRows> = LazyLock::new(|| OwnRows::divide(&TEXTS));

/// The texts of all rows, by the names of their programs.
struct OwnRows {
    rows: Vec<UnreadRow>,
    programs: HashMap<&'static str, Places>,
}

/// A row that may not have been read yet.
struct UnreadRow {
    text: &'static str,
    row: OnceLock<Option<Row>>,
}

/// Where the rows of one program are.
#[derive(Default)]
struct Places {
    row: Option<usize>,
    subcommands: Vec<(&'static str, usize)>,
}

/// Returns the row of a program.
pub(super) fn row(name: &str) -> Option<&'static Row> {
    OWN.at(OWN.programs.get(name)?.row?)
}

/// Whether a program has rows of subcommands.
pub(super) fn has_subcommands(name: &str) -> bool {
    OWN.programs.get(name).is_some_and(|places| !places.subcommands.is_empty())
}

/// Returns the row of a subcommand.
pub(super) fn subcommand(name: &str, subcommand: &str) -> Option<&'static Row> {
    let places = &OWN.programs.get(name)?.subcommands;
    OWN.at(places.iter().find(|(other, _)| *other == subcommand)?.1)
}

impl OwnRows {
    /// Divides the texts at the heads of their rows. A row begins with its `names`, and then its `sub`, if it has one.
    fn divide(texts: &[&'static str]) -> Self {
        let mut own = Self { rows: Vec::new(), programs: HashMap::with_capacity(1024) };
        for text in texts.iter().flat_map(|text| text.split(HEAD).skip(1)) {
            let mut lines = text.lines();
            let Some(names) = lines.next().and_then(|line| value(line, "names")) else { continue };
            let subcommands = lines.next().and_then(|line| value(line, "sub"));
            let place = own.rows.len();
            own.rows.push(UnreadRow { text, row: OnceLock::new() });
            for name in names.split(' ') {
                let places = own.programs.entry(name).or_default();
                match subcommands {
                    None => places.row = Some(place),
                    Some(list) => places.subcommands.extend(list.split(' ').map(|name| (name, place))),
                }
            }
        }
        own
    }

    fn at(&'static self, place: usize) -> Option<&'static Row> {
        let unread = self.rows.get(place)?;
        unread.row.get_or_init(|| read(unread.text).ok()).as_ref()
    }
}

/// Returns the text of a line `key = "text"`.
fn value<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')
}

fn read(text: &str) -> Result<Row, String> {
    Row::read(toml::from_str(text).map_err(|error| error.to_string())?)
}

#[cfg(test)]
mod tests {
    use super::super::row::RawRow;
    use super::*;

    #[derive(serde::Deserialize)]
    struct Whole {
        program: Vec<RawRow>,
    }

    #[test]
    fn every_row_is_found_by_its_names_and_is_read() {
        let whole = TEXTS.iter().flat_map(|text| toml::from_str::<Whole>(text).unwrap().program);
        let mut count = 0_usize;
        for (raw, unread) in whole.zip(&OWN.rows) {
            count += 1;
            let (names, subcommands) = (raw.names.clone(), raw.sub.clone());
            let expected = format!("{:?}", Row::read(raw).unwrap_or_else(|why| panic!("{names}: {why}")));
            assert_eq!(format!("{:?}", read(unread.text).unwrap()), expected, "{names}");
            for name in names.split_whitespace() {
                let subcommands = subcommands.as_deref().map(|list| list.split_whitespace().collect::<Vec<_>>());
                let found = match subcommands {
                    None => vec![row(name)],
                    Some(list) => list.into_iter().map(|inner| subcommand(name, inner)).collect(),
                };
                for found in found {
                    assert_eq!(found.map(|row| format!("{row:?}")), Some(expected.clone()), "{names}");
                }
                assert!(row(name).is_some(), "{name} has rows of subcommands only");
            }
        }
        assert_eq!(count, OWN.rows.len());
        assert_eq!(count, TEXTS.iter().map(|text| text.matches("[[program]]").count()).sum::<usize>());
        assert!(OWN.programs.len() > 200, "{}", OWN.programs.len());
    }
}
