//! Syntax errors of Python. The grammar is looser than the language: it knows statements of Python 2, and does not look at
//! indentation as the interpreter does. The indentation of logical lines is checked here, with the strings and comments
//! that the parser found.
//!
//! A full parser of the language was considered: it would have been the largest part of the program for one lint.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::parse::{first_error, nodes, parse_python};

/// Returns the place of the first error and what it is.
pub(super) fn python_error(text: &str) -> Option<(Range<usize>, String)> {
    let tree = parse_python(text)?;
    let by_grammar = first_error(&tree).map(|(span, expected)| {
        let what = expected.map_or_else(|| "syntax error".to_owned(), |expected| format!("`{expected}` is missing"));
        (span, what)
    });
    // An error of the indentation comes first if it is above: the parser may have lost its way because of it.
    let found = [by_grammar, indentation_error(&tree, text), misplaced(&tree)];
    found.into_iter().flatten().min_by_key(|(span, _)| span.start)
}

/// Modules of Python that scripts of hooks use most.
const MODULES: [&str; 9] = ["sys", "json", "os", "re", "subprocess", "pathlib", "shlex", "datetime", "logging"];

/// Returns the first use of a module that a text never imports. A name that stands anywhere else than before a dot may be
/// defined there.
pub(super) fn missing_import(text: &str) -> Option<(Range<usize>, &'static str)> {
    let tree = parse_python(text)?;
    if tree.root_node().has_error() || text.contains("import *") {
        return None;
    }
    let mut uses: Vec<(Range<usize>, &'static str)> = Vec::new();
    let mut defined: Vec<&str> = Vec::new();
    for node in nodes(&tree).filter(|node| node.kind() == "identifier") {
        let name = text.get(node.byte_range())?;
        let Some(known) = MODULES.into_iter().find(|known| *known == name) else { continue };
        let is_object = node.parent().is_some_and(|parent| {
            parent.kind() == "attribute" && parent.child_by_field_name("object").is_some_and(|object| object == node)
        });
        let is_member = node.parent().is_some_and(|parent| parent.kind() == "attribute");
        match (is_object, is_member) {
            (true, _) => uses.push((node.byte_range(), known)),
            (false, true) => {}
            (false, false) => defined.push(known),
        }
    }
    uses.into_iter().find(|(_, name)| !defined.contains(name))
}

/// Statements of Python 2, and statements where they are not allowed.
fn misplaced(tree: &Tree) -> Option<(Range<usize>, String)> {
    nodes(tree).find_map(|node| {
        let what = match node.kind() {
            "print_statement" => "`print` is a function: write `print(…)`",
            "exec_statement" => "`exec` is a function: write `exec(…)`",
            "<>" => "`<>` is no operator: write `!=`",
            "return_statement" if function_around(node).is_none() => "`return` outside of a function",
            "yield" if function_around(node).is_none() => "`yield` outside of a function",
            "break_statement" if !is_in_loop(node) => "`break` outside of a loop",
            "continue_statement" if !is_in_loop(node) => "`continue` outside of a loop",
            "await" if function_around(node).is_none() => "`await` outside of a function",
            "argument_list" => return positional_behind_keyword(node),
            _ => return None,
        };
        Some((node.byte_range(), what.to_owned()))
    })
}

fn positional_behind_keyword(list: Node<'_>) -> Option<(Range<usize>, String)> {
    let mut cursor = list.walk();
    let mut has_keyword = false;
    for argument in list.named_children(&mut cursor) {
        match argument.kind() {
            "keyword_argument" | "dictionary_splat" => has_keyword = true,
            "list_splat" | "comment" | "ERROR" | "for_in_clause" | "if_clause" => {}
            _ if has_keyword => {
                return Some((argument.byte_range(), "a positional argument behind a keyword argument".to_owned()));
            }
            _ => {}
        }
    }
    None
}

fn function_around(node: Node<'_>) -> Option<Node<'_>> {
    ancestors(node).find(|around| matches!(around.kind(), "function_definition" | "lambda"))
}

fn is_in_loop(node: Node<'_>) -> bool {
    let mut around =
        ancestors(node).take_while(|around| !matches!(around.kind(), "function_definition" | "class_definition"));
    around.any(|around| matches!(around.kind(), "for_statement" | "while_statement"))
}

fn ancestors(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    std::iter::successors(node.parent(), Node::parent)
}

/// The width of an indentation as the interpreter measures it: with tabs as eight columns and as one. Lines that compare
/// differently in the two mix tabs and blanks.
type Indentation = (usize, usize);

fn indentation(line: &str) -> Indentation {
    let mut width = (0, 0);
    for letter in line.chars() {
        match letter {
            ' ' => width = (width.0 + 1, width.1 + 1),
            '\t' => width = (width.0 / 8 * 8 + 8, width.1 + 1),
            '\u{c}' => width = (0, 0),
            _ => break,
        }
    }
    width
}

fn indentation_error(tree: &Tree, text: &str) -> Option<(Range<usize>, String)> {
    let hidden = strings_and_comments(tree);
    let mut open: Vec<Indentation> = vec![(0, 0)];
    // The number of the line whose block begins next.
    let mut opener: Option<usize> = None;
    for line in LogicalLines::new(text, &hidden) {
        let here = indentation(&text[line.start..]);
        let at = line.start..line.start + 1;
        let last = *open.last().unwrap_or(&(0, 0));
        if (here.0.cmp(&last.0)) != (here.1.cmp(&last.1)) {
            return Some((at, "tabs and blanks are mixed in the indentation".to_owned()));
        }
        match (opener.take(), here > last) {
            (Some(_), true) => open.push(here),
            (Some(above), false) => {
                return Some((at, format!("an indented block is missing behind the `:` of line {above}")));
            }
            (None, true) => return Some((at, "this line is indented without a reason".to_owned())),
            (None, false) => {
                while open.last().is_some_and(|last| *last > here) {
                    open.pop();
                }
                if open.last() != Some(&here) {
                    return Some((at, "the indentation matches no line above".to_owned()));
                }
            }
        }
        if line.opens_block {
            opener = Some(text[..line.end].matches('\n').count() + 1);
        }
    }
    let end = text.trim_end().len();
    opener.map(|above| {
        (end.saturating_sub(1)..end, format!("an indented block is missing behind the `:` of line {above}"))
    })
}

/// The spans of strings and comments, in order.
fn strings_and_comments(tree: &Tree) -> Vec<(Range<usize>, Hidden)> {
    let mut found: Vec<(Range<usize>, Hidden)> = Vec::new();
    for node in nodes(tree) {
        let kind = match node.kind() {
            "string" => Hidden::Text,
            "comment" => Hidden::Comment,
            _ => continue,
        };
        // A string inside of another one, as in an f-string, is covered.
        if found.last().is_none_or(|(last, _)| last.end <= node.start_byte()) {
            found.push((node.byte_range(), kind));
        }
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Hidden {
    Text,
    Comment,
}

/// A line with those that continue it.
struct LogicalLine {
    start: usize,
    /// The offset of its last code.
    end: usize,
    opens_block: bool,
}

/// The lines of a text that have code.
struct LogicalLines<'t> {
    text: &'t str,
    hidden: &'t [(Range<usize>, Hidden)],
    at: usize,
}

impl<'t> LogicalLines<'t> {
    fn new(text: &'t str, hidden: &'t [(Range<usize>, Hidden)]) -> Self {
        Self { text, hidden, at: 0 }
    }

    /// The string or comment that begins here.
    fn hidden_at(&self, at: usize) -> Option<&(Range<usize>, Hidden)> {
        let found = self.hidden.binary_search_by_key(&at, |(span, _)| span.start).ok()?;
        self.hidden.get(found)
    }
}

impl Iterator for LogicalLines<'_> {
    type Item = LogicalLine;

    fn next(&mut self) -> Option<LogicalLine> {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            let start = self.at;
            let mut depth = 0_usize;
            let mut last: Option<(usize, u8)> = None;
            while let Some(byte) = bytes.get(self.at).copied() {
                if let Some((span, kind)) = self.hidden_at(self.at) {
                    if *kind == Hidden::Text {
                        last = Some((span.end.saturating_sub(1), b'"'));
                    }
                    self.at = span.end.max(self.at + 1);
                    continue;
                }
                self.at += 1;
                match byte {
                    b'\n' if depth == 0 && last.is_none_or(|(_, byte)| byte != b'\\') => break,
                    b'(' | b'[' | b'{' => depth += 1,
                    b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                // A line break behind a backslash continues the line, and the backslash is done with.
                if byte == b'\n' {
                    last = last.filter(|(_, byte)| *byte != b'\\');
                } else if !byte.is_ascii_whitespace() {
                    last = Some((self.at - 1, byte));
                }
            }
            if let Some((end, byte)) = last {
                return Some(LogicalLine { start, end, opens_block: byte == b':' });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_code_has_no_error() {
        for text in [
            "",
            "# only a comment\n",
            "import sys\nif sys.argv:\n    print('a')\nelse:\n    pass\n",
            "if True:\n\tx = 1\n\tif x:\n\t\ty = 2\n# less\n\t# more\n\tz = 3\n",
            "def f(a,\n  b):\n    return [\na,\n        b]\n\n\nclass A:\n    '''doc\nnot indented\n    '''\n    x = 1\n",
            "x = 1 + \\\n        2\nif x: print(x)\nfor i in x: pass\nwhile True: break\n",
            "d = {\n'a': 1,\n  'b': lambda x: x,\n}\nprint(d['a':], d[1:])\n",
            "try:\n  x()\nexcept (A, B) as e:\n  print(e, file=y, *z)\nfinally:\n  pass\n",
            "with open(x) as f:\n    data = f.read()  # if:\nprint(f\"{data['a']}: {data:>{10}}\")\n",
            "async def f():\n    await x\n    async for i in y:\n        yield i\n",
            "match x:\n    case {'a': 1}:\n        pass\n    case _:\n        pass\n",
            "if x:\n    pass\n\n# at the left\n\n    y = 1\n",
            "f(*a, b, c=1, **d)\nprint('x' if y else 'z', end='')\n",
            "while x:\n    def f():\n        return 1\n    continue\n",
        ] {
            assert_eq!(python_error(text), None, "{text}");
        }
    }

    #[test]
    fn a_module_that_is_not_imported_is_found() {
        assert_eq!(missing_import("import json\nsys.exit(2)\n"), Some((12..15, "sys")));
        for text in [
            "import sys\nsys.exit(2)\n",
            "import os, sys as s\nos.x(s)\n",
            "from x import *\nsys.exit(2)\n",
            "def f(json):\n    return json.x\n",
            "for re in x:\n    re.y()\n",
            "a.json.load()\n",
            "import os.path\nos.path.join('a')\n",
        ] {
            assert_eq!(missing_import(text), None, "{text}");
        }
    }

    #[test]
    fn errors_have_their_line() {
        for (text, line, what) in [
            ("import sys\nif sys.argv:\nprint('a')\n", 3, "an indented block is missing behind the `:` of line 2"),
            ("print \"x\"\n", 1, "`print` is a function"),
            ("import sys\n  x = 1\n", 2, "indented without a reason"),
            ("if x:\n    y = 1\n  z = 2\n", 3, "matches no line above"),
            ("if x:\n        y = 1\n\tz = 2\n", 3, "tabs and blanks"),
            ("def f():\n", 1, "an indented block is missing"),
            ("x = 1\nreturn x\n", 2, "`return` outside"),
            ("if x:\n    break\n", 2, "`break` outside"),
            ("f(a=1, b)\n", 1, "positional argument"),
            ("print(\"a\"\n", 1, ""),
            ("def f(:\n    pass\n", 1, ""),
        ] {
            let (span, said) = python_error(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(text[..span.start].matches('\n').count() + 1, line, "{text}: {said}");
            assert!(said.contains(what), "{text}: {said}");
        }
    }
}
