//! The pictures of terminals in the README and the documentation: real commands on a real terminal, drawn as SVG.
//!
//! `scripts/recording.sh` draws the pictures anew. A test fails if the text of one is not what the commands print today;
//! times may differ.

#![cfg(target_os = "linux")]
#![expect(clippy::panic, reason = "helpers of tests fail the test as the tests themselves do")]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use crate::cli::pseudo_terminal::OnTerminal;
use crate::cli::sandbox::Sandbox;

/// A picture: what has happened before, the commands that it shows, and the keys that answer their questions.
struct Recording {
    picture: &'static str,
    title: &'static str,
    prepare: fn(&Sandbox),
    commands: &'static [&'static str],
    keys: &'static [&'static str],
}

/// The end of the question to which keys are typed.
const QUESTION: &str = "q: quit ";

const DENIED: Recording = Recording {
    picture: "docs/pictures/denied.svg",
    title: "hookrail: one hook denies what three coding agents want to do",
    prepare: |_| {},
    commands: &["hookrail demo"],
    keys: &[" ", " ", "q"],
};

const JOURNAL: Recording = Recording {
    picture: "docs/pictures/journal.svg",
    title: "hookrail: what hooks decided, how long they took, and that no record is missing",
    prepare: record_events,
    commands: &["hookrail log --session s1", "hookrail stats", "hookrail journal verify"],
    keys: &[],
};

/// Records tool calls of one session: one is denied, one needs approval, and one hook fails.
fn record_events(sandbox: &Sandbox) {
    let hook = |name: &str, command: &str| json!({"type": "command", "name": name, "command": command});
    let ask =
        r#"if grep -q force; then echo '{"decision":"ask","reason":"a forced push replaces the work of others"}'; fi"#;
    let hooks = json!({"BeforeTool": [
        {"matcher": "write_file", "hooks": [hook("secrets", "if grep -q env; then echo 'secrets stay out of this project' >&2; exit 2; fi")]},
        {"matcher": "run_shell_command", "hooks": [hook("pushes", ask)]},
        {"hooks": [hook("audit", "sleep 0.02; ! grep -q broken")]},
    ]});
    let settings = json!({"hooksConfig": {"enabled": true}, "hooks": hooks});
    sandbox.write(".llxprt/settings.json", settings.to_string());
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    for (tool, input, status) in [
        ("read_file", r#"{"path":"README.md"}"#, 0),
        ("write_file", r#"{"path":"src/main.rs"}"#, 0),
        ("write_file", r#"{"path":".env"}"#, 2),
        ("run_shell_command", r#"{"command":"cargo test"}"#, 0),
        ("run_shell_command", r#"{"command":"git push --force"}"#, 4),
        ("read_file", r#"{"path":"broken.md"}"#, 0),
    ] {
        let fire = ["fire", "BeforeTool", "--tool", tool, "--tool-input", input, "--session-id", "s1", "--journal"];
        sandbox.run(&fire).ends_with(status);
    }
}

/// How wide and high a character is, in the units of the picture.
const CELL: (f64, f64) = (8.4, 19.0);
const MARGIN: f64 = 18.0;
/// How many characters fit on a line before the picture breaks it.
const COLUMNS: usize = 120;

/// How a piece of text looks; a class of the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Look {
    bold: bool,
    dim: bool,
    colour: Option<&'static str>,
}

impl Look {
    /// Applies the number of a "select graphic rendition" sequence.
    fn apply(&mut self, number: &str) {
        match number {
            "" | "0" => *self = Self::default(),
            "1" => self.bold = true,
            "2" => self.dim = true,
            "31" => self.colour = Some("red"),
            "32" => self.colour = Some("green"),
            "33" => self.colour = Some("yellow"),
            "36" => self.colour = Some("cyan"),
            other => panic!("the picture does not know the style {other}"),
        }
    }

    fn classes(self) -> String {
        let classes = [self.bold.then_some("bold"), self.dim.then_some("dim"), self.colour];
        classes.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// A line of the terminal: pieces of text with their looks.
#[derive(Default)]
struct Line {
    pieces: Vec<(Look, String)>,
}

impl Line {
    fn text(&self) -> String {
        self.pieces.iter().map(|(_, text)| text.as_str()).collect()
    }

    fn push(&mut self, look: Look, character: char) {
        match self.pieces.last_mut() {
            Some((last, text)) if *last == look => text.push(character),
            _ => self.pieces.push((look, character.to_string())),
        }
    }

    /// The line in parts that fit into the picture.
    fn broken(self) -> Vec<Line> {
        let mut lines = vec![Line::default()];
        let mut column = 0;
        for (look, text) in self.pieces {
            for character in text.chars() {
                if column == COLUMNS {
                    lines.push(Line::default());
                    column = 0;
                }
                lines.last_mut().unwrap().push(look, character);
                column += 1;
            }
        }
        lines
    }
}

/// The lines that a terminal shows after these bytes.
fn lines(printed: &str) -> Vec<Line> {
    let mut lines = vec![Line::default()];
    let mut look = Look::default();
    let mut rest = printed;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        let line = lines.last_mut().unwrap();
        match character {
            '\r' => {}
            '\n' => lines.push(Line::default()),
            '\u{1b}' => {
                let sequence = rest.strip_prefix('[').unwrap_or_else(|| panic!("an unknown sequence: {rest:?}"));
                let end = sequence.find(|c: char| c.is_ascii_alphabetic()).unwrap();
                let (numbers, after) = sequence.split_at(end);
                match &after[..1] {
                    "m" => numbers.split(';').for_each(|number| look.apply(number)),
                    // The line about a slow hook is erased when the hook has ended.
                    "K" => line.pieces.clear(),
                    other => panic!("an unknown sequence: {numbers}{other}"),
                }
                rest = &after[1..];
            }
            _ => line.push(look, character),
        }
    }
    if lines.last().is_some_and(|line| line.pieces.is_empty()) {
        lines.pop();
    }
    lines
}

/// Runs the commands one after the other in a new project.
fn recorded(recording: &Recording) -> Vec<Line> {
    let sandbox = Sandbox::new();
    (recording.prepare)(&sandbox);
    let programs = sandbox.home.join("programs");
    fs::create_dir(&programs).unwrap();
    symlink(env!("CARGO_BIN_EXE_hookrail"), programs.join("hookrail")).unwrap();
    let mut all = Vec::new();
    for command in recording.commands {
        let mut prompt = Line::default();
        "$ ".chars().for_each(|character| prompt.push(Look { dim: true, ..Look::default() }, character));
        command.chars().for_each(|character| prompt.push(Look { bold: true, ..Look::default() }, character));
        all.extend(prompt.broken());
        let mut shell = std::process::Command::new("sh");
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        shell.args(["-c", command]).current_dir(&sandbox.project).env_clear();
        shell.env("PATH", path).env("HOME", &sandbox.home).env("TERM", "xterm");
        let mut terminal = OnTerminal::of(&mut shell, "");
        let mut printed = String::new();
        for key in recording.keys {
            printed.push_str(&terminal.sees_next(QUESTION));
            terminal.types(key);
        }
        printed.push_str(&terminal.everything());
        all.extend(lines(&printed).into_iter().flat_map(Line::broken));
        all.push(Line::default());
    }
    all.pop();
    all
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Draws the lines.
fn drawn(title: &str, lines: &[Line]) -> String {
    let width = (COLUMNS as f64).mul_add(CELL.0, 2.0 * MARGIN);
    let height = (lines.len() as f64).mul_add(CELL.1, 3.0 * MARGIN);
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img">
<title>{title}</title>
<style>
text {{ white-space: pre }}
.bold {{ font-weight: 700 }} .dim {{ fill: #8b949e }}
.red {{ fill: #ff7b72 }} .green {{ fill: #56d364 }} .yellow {{ fill: #e3b341 }} .cyan {{ fill: #76e3ea }}
</style>
<rect width="100%" height="100%" rx="8" fill="#161b22"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="14" fill="#d7dce2">
"##
    );
    for (row, line) in (1_u16..).zip(lines) {
        let y = f64::from(row).mul_add(CELL.1, MARGIN);
        let _ = write!(svg, r#"<text xml:space="preserve" x="{MARGIN}" y="{y:.0}">"#);
        let mut column = 0;
        for (look, text) in &line.pieces {
            // Each piece has its place and its width, so that columns stay columns in every font.
            let count = text.chars().count();
            let (x, long) = ((column as f64).mul_add(CELL.0, MARGIN), count as f64 * CELL.0);
            let (classes, text) = (look.classes(), escaped(text));
            let _ = write!(
                svg,
                r#"<tspan class="{classes}" x="{x:.1}" textLength="{long:.1}" lengthAdjust="spacingAndGlyphs">{text}</tspan>"#
            );
            column += count;
        }
        svg.push_str("</text>\n");
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// The text of each line of a picture.
fn texts(svg: &str) -> Vec<String> {
    let lines = svg.lines().filter(|line| line.starts_with("<text "));
    let text = |line: &str| {
        let pieces = line.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text);
        pieces.collect::<String>().replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    };
    lines.map(text).collect()
}

/// A line without what differs from run to run: times, plots of times, hashes, and the width of their columns.
fn steady(line: &str) -> String {
    let is_plot = |word: &str| word.chars().all(|letter| ('▁'..='█').contains(&letter));
    let words: Vec<&str> = line.split_whitespace().filter(|word| !is_plot(word)).collect();
    let is_time = |at: usize| words[at].parse::<f64>().is_ok() && matches!(words.get(at + 1), Some(&("ms" | "s")));
    let is_decimal = |word: &str| word.contains('.') && word.parse::<f64>().is_ok();
    // A day, a time of day or a hash.
    let is_dated =
        |word: &str| word.len() >= 10 && word.bytes().all(|byte| byte.is_ascii_hexdigit() || b"-:.".contains(&byte));
    let steady = (0..words.len()).map(|at| match at {
        _ if is_time(at) || is_decimal(words[at]) || is_dated(words[at]) => "N",
        0 => words[0],
        _ if is_time(at - 1) => "ms",
        _ => words[at],
    });
    steady.collect::<Vec<_>>().join(" ")
}

fn check(recording: &Recording) {
    let picture = recording.picture;
    let lines = recorded(recording);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(picture);
    if std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1") {
        let current = fs::read_to_string(&file).unwrap_or_default();
        // Times alone are no reason to change a file that is under version control.
        let same = texts(&current).iter().map(|line| steady(line)).eq(lines.iter().map(|line| steady(&line.text())));
        if !same || std::env::var_os("HOOKRAIL_REDRAW").is_some() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, drawn(recording.title, &lines)).unwrap();
        }
    }
    let shown: Vec<String> =
        texts(&fs::read_to_string(&file).unwrap_or_default()).iter().map(|line| steady(line)).collect();
    let printed: Vec<String> = lines.iter().map(|line| steady(&line.text())).collect();
    assert_eq!(shown, printed, "{picture} is not current: run scripts/recording.sh");
}

#[test]
fn the_picture_of_the_readme_shows_what_the_commands_print_today() {
    check(&DENIED);
}

#[test]
fn the_picture_of_the_journal_shows_what_the_commands_print_today() {
    check(&JOURNAL);
}

#[test]
fn a_picture_gives_back_the_text_that_was_drawn() {
    let mut drawn_lines = lines("\u{1b}[1m\u{1b}[32mok\u{1b}[0m  a < b & c\r\n\r\nrunning … 2s\r\u{1b}[2Kdone\r\n");
    assert_eq!(texts(&drawn("a picture", &drawn_lines)), ["ok  a < b & c", "", "done"]);
    assert_eq!(drawn_lines.remove(0).pieces[0].0.classes(), "bold green");
}
