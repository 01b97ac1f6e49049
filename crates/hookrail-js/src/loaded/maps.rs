//! Source maps: from a place in the code that runs to the place in the file that the author wrote.

use std::collections::HashMap;
use std::path::PathBuf;

use hookrail::module::LoadPlace;

/// The maps of all files that were rewritten, and the names of those that were not.
#[derive(Debug, Default)]
pub(crate) struct SourceMaps(HashMap<String, FileMap>);

/// How places of one file were moved.
#[derive(Debug, Default)]
struct FileMap {
    places: PlaceMap,
    /// How many columns stand before the first line of the code.
    ahead: u32,
}

/// Pairs of places, ordered by the place in the code: `(line, column)` from zero, in the file and in the code.
pub(crate) type PlaceMap = Vec<((u32, u32), (u32, u32))>;

impl SourceMaps {
    /// Adds a file. `ahead` is the number of columns that stand before the first line of its code.
    pub(crate) fn add(&mut self, file: &str, map: Option<PlaceMap>, ahead: usize) {
        let ahead = u32::try_from(ahead).unwrap_or(0);
        self.0.insert(file.to_owned(), FileMap { places: map.unwrap_or_default(), ahead });
    }

    /// The stack with places in the files, without the frames of the prelude.
    pub(crate) fn stack(&self, stack: &str) -> String {
        let frames = stack.lines().filter_map(|frame| {
            let (before, place, after) = split_frame(frame)?;
            let place = self.place(place)?;
            Some(format!("{before}{}:{}:{}{after}", place.file.display(), place.line, place.column))
        });
        frames.collect::<Vec<_>>().join("\n")
    }

    /// The first place of a stack that is in one of the module's files.
    pub(crate) fn first_place(&self, stack: &str) -> Option<LoadPlace> {
        stack.lines().find_map(|frame| self.place(split_frame(frame)?.1))
    }

    fn place(&self, place: &str) -> Option<LoadPlace> {
        let mut parts = place.rsplitn(3, ':');
        let column = parts.next()?.parse::<u32>().ok()?;
        let line = parts.next()?.parse::<u32>().ok()?;
        let file = parts.next()?;
        let map = self.0.get(file)?;
        let column = if line == 1 { column.saturating_sub(map.ahead).max(1) } else { column };
        let (line, column) = back(&map.places, line, column);
        Some(LoadPlace { file: PathBuf::from(file), line, column })
    }
}

/// The place in the file for a place in the code, both counted from one.
fn back(map: &PlaceMap, line: u32, column: u32) -> (u32, u32) {
    let sought = (line.saturating_sub(1), column.saturating_sub(1));
    let at = map.partition_point(|(there, _)| *there <= sought);
    match at.checked_sub(1).and_then(|at| map.get(at)) {
        Some((_, here)) => (here.0 + 1, here.1 + 1),
        None => (line, column),
    }
}

/// Splits a frame into the text before its place, the place, and the text after it.
fn split_frame(frame: &str) -> Option<(String, &str, &'static str)> {
    match frame.rsplit_once('(') {
        Some((before, place)) => Some((format!("{before}("), place.trim_end().strip_suffix(')')?, ")")),
        None => {
            let (before, place) = frame.split_once("at ")?;
            Some((format!("{before}at "), place.trim(), ""))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_lead_back_to_the_file() {
        let mut maps = SourceMaps::default();
        maps.add("/p/x.ts", Some(vec![((0, 0), (2, 4)), ((1, 0), (9, 1))]), 0);
        let stack = "    at handler (/p/x.ts:1:3)\n    at run (api.js:5:1)\n    at /p/x.ts:2:1\n";
        assert_eq!(maps.first_place(stack).unwrap(), LoadPlace { file: "/p/x.ts".into(), line: 3, column: 5 });
        assert_eq!(maps.stack(stack), "    at handler (/p/x.ts:3:5)\n    at /p/x.ts:10:2");
    }
}
