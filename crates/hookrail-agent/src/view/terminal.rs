//! For people: answers on standard output, everything else on standard error.

use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex};

use anstyle::{AnsiColor, Style};
use crossterm::terminal::{Clear, ClearType};
use hookrail::Json;
use hookrail_spawn::lock_mutex;

use super::screen::{Screen, Stream, columns};
use super::{View, ViewEvent};
use crate::text::{coloured, cut_to_width, limited, short, visible};

const QUIET: Style = Style::new().dimmed();
const CAREFUL: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const TOOL: Style = AnsiColor::Cyan.on_default();
const WIDE: usize = 160;
const NAME: usize = 60;

/// Shows everything as text.
pub struct TerminalView {
    screen: Arc<Screen>,
    state: Mutex<TerminalViewState>,
    /// Whether a line can be erased.
    erases: bool,
}

#[derive(Debug, Default)]
struct TerminalViewState {
    /// The slow hooks that run, in the order in which they were shown, each with what its author wants shown.
    slow_hooks: Vec<(String, Option<String>)>,
    /// Whether the line about slow hooks is shown.
    hook_line: bool,
    /// Whether an answer has begun and its line is not complete.
    mid_line: bool,
    /// Whether the answer was shown in pieces.
    streamed: bool,
    /// The status line, while it is the last line written.
    status: Option<String>,
}

impl TerminalView {
    /// Makes a view on this process's streams.
    #[must_use]
    pub fn new() -> Self {
        Self::on_screen(Arc::default())
    }

    /// Makes a view on a screen that other code uses too.
    pub(crate) fn on_screen(screen: Arc<Screen>) -> Self {
        let erases = std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Self { screen, state: Mutex::default(), erases }
    }

    fn aside(&self, state: &mut TerminalViewState, style: Style, text: &str) {
        self.make_room(state);
        state.status = None;
        self.screen.write(Stream::Asides, &format!("{style}{text}{style:#}\n"));
    }

    /// Erases the line about a slow hook, and ends the line of an answer.
    fn make_room(&self, state: &mut TerminalViewState) {
        if std::mem::take(&mut state.hook_line) {
            self.screen.write(Stream::Asides, &erase_line());
        }
        if std::mem::take(&mut state.mid_line) {
            self.screen.write(Stream::Answers, "\n");
        }
    }

    fn write_answer(&self, state: &mut TerminalViewState, text: &str) {
        if std::mem::take(&mut state.hook_line) {
            self.screen.write(Stream::Asides, &erase_line());
        }
        state.status = None;
        let shown = visible(text);
        self.screen.write(Stream::Answers, &shown);
        if !shown.is_empty() {
            state.mid_line = !shown.ends_with('\n');
        }
    }
}

fn erase_line() -> String {
    format!("\r{}", Clear(ClearType::CurrentLine))
}

impl Default for TerminalView {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for TerminalView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TerminalView").field("erases", &self.erases).finish_non_exhaustive()
    }
}

impl View for TerminalView {
    fn columns(&self) -> Option<usize> {
        self.erases.then(columns)
    }

    fn failure(&self) -> Option<String> {
        self.screen.failure()
    }

    fn show(&self, shown: &ViewEvent<'_>) {
        let state = &mut *lock_mutex(&self.state);
        match shown {
            ViewEvent::Text { text } => {
                state.streamed = true;
                self.write_answer(state, text);
            }
            ViewEvent::Answer { text, .. } => {
                let streamed = std::mem::take(&mut state.streamed);
                if let (Some(text), false) = (text, streamed) {
                    self.write_answer(state, text);
                }
                self.make_room(state);
            }
            ViewEvent::ModelBlocked { reason, by } => {
                let what = if by.is_empty() { "the model was not called" } else { "model call denied" };
                self.aside(state, CAREFUL, &format!("{what}{}: {}", named(by), limited(reason)));
            }
            ViewEvent::ToolCall { tool, input, .. } => {
                self.aside(state, TOOL, &format!("• {} {}", short(tool, NAME), short(input.text(), WIDE)));
            }
            ViewEvent::ToolResult { end, input, display, by, rewritten_by, .. } => {
                if !rewritten_by.is_empty() {
                    let text = format!("  arguments changed{}: {}", named(rewritten_by), short(input.text(), WIDE));
                    self.aside(state, CAREFUL, &text);
                }
                self.tool_result(state, end, input, *display, by);
            }
            ViewEvent::PromptDenied { reason, by } => {
                self.aside(state, BAD, &format!("prompt denied{}: {}", named(by), limited(reason)));
            }
            ViewEvent::SystemMessage { text } => self.aside(state, QUIET, &format!("hook: {}", limited(text))),
            ViewEvent::Warning { code, text } => {
                let code = code.map(|code| format!("[{code}]")).unwrap_or_default();
                self.aside(state, CAREFUL, &format!("warning{code}: {}", limited(text)));
            }
            // Only colours of a hook's text are kept; other control characters are escaped.
            ViewEvent::Status { text } if state.status.as_deref() == Some(*text) || text.is_empty() => {}
            ViewEvent::Status { text } => {
                // The brackets stand on the same line.
                self.aside(state, QUIET, &format!("[{}]", cut_to_width(text, columns().saturating_sub(2))));
                state.status = Some((*text).to_owned());
            }
            ViewEvent::Drawn { lines, .. } => {
                for line in *lines {
                    self.aside(state, Style::new(), coloured(line, columns()).trim_end());
                }
            }
            ViewEvent::Note { text } => self.aside(state, QUIET, &limited(text)),
            ViewEvent::Stopped { reason } => self.aside(state, BAD, &format!("stopped: {}", limited(reason))),
            ViewEvent::SentBack { message } => {
                self.aside(state, CAREFUL, &format!("a hook sends the agent back to work: {}", limited(message)));
            }
            ViewEvent::Compacted { reason, summary } => {
                let summary = summary.map_or_else(|| "(hidden by a hook)".to_owned(), |text| short(text, WIDE));
                self.aside(state, QUIET, &format!("compacted ({reason}): {summary}"));
            }
            ViewEvent::HookRunning { hook, status_message } => {
                state.slow_hooks.push(((*hook).to_owned(), status_message.map(str::to_owned)));
                self.make_room(state);
            }
            ViewEvent::HookEnded { hook } => {
                if let Some(at) = state.slow_hooks.iter().position(|(name, _)| name == hook) {
                    state.slow_hooks.remove(at);
                }
                self.make_room(state);
            }
            ViewEvent::Listing { lines, .. } => {
                for line in *lines {
                    self.aside(state, Style::new(), &visible(line));
                }
            }
            ViewEvent::Error { text } => self.aside(state, BAD, &format!("error: {}", limited(text))),
            ViewEvent::TurnEnd { end, detail } => match (*end, detail) {
                ("capped" | "failed" | "signed_out", Some(detail)) => {
                    self.aside(state, BAD, &format!("error: {}", limited(detail)));
                }
                ("cancelled", _) => self.aside(state, CAREFUL, "interrupted"),
                _ => self.make_room(state),
            },
            ViewEvent::Session { source, id, .. } if *source != "startup" => {
                self.aside(state, QUIET, &format!("session {} ({source})", short(id, 40)));
            }
            ViewEvent::Session { .. } | ViewEvent::Receipt { .. } => {}
        }
        // Whatever was shown erased the line, and the hooks in it still run.
        self.show_slow_hooks(state);
    }
}

impl TerminalView {
    /// Shows the line about slow hooks, below everything else.
    fn show_slow_hooks(&self, state: &mut TerminalViewState) {
        let may_show = self.erases && !state.hook_line && !state.mid_line && self.screen.has_last_line();
        if state.slow_hooks.is_empty() || !may_show {
            return;
        }
        let hook = |(name, message): &(String, Option<String>)| match message {
            Some(message) => format!("{} ({})", short(name, NAME), short(message, NAME)),
            None => short(name, NAME),
        };
        let hooks: Vec<String> = state.slow_hooks.iter().map(hook).collect();
        let word = if hooks.len() == 1 { "hook" } else { "hooks" };
        // A line that is wider than the screen would be two, of which only the last is erased.
        let line = short(&format!("running {word} {}", hooks.join(", ")), columns().saturating_sub(3).max(20));
        self.screen.write(Stream::Asides, &format!("{QUIET}{line} …{QUIET:#}"));
        state.hook_line = true;
    }

    fn tool_result(&self, state: &mut TerminalViewState, end: &str, input: &Json, display: Option<&Json>, by: &[&str]) {
        let style = if end == "ran" { QUIET } else { CAREFUL };
        let word = match end {
            "ran" => String::new(),
            "denied" => format!("denied{}: ", named(by)),
            _ => format!("{end} {}: ", short(input.text(), WIDE)),
        };
        match display {
            Some(display) => {
                let text = display.as_str().unwrap_or_else(|| display.text().to_owned());
                let text = limited(&format!("{word}{text}")).replace('\n', "\n    ");
                self.aside(state, style, &format!("  → {text}"));
            }
            None => self.aside(state, style, &format!("  → {word}(hidden by a hook)")),
        }
    }
}

/// Names the hooks whose text follows, so that it is not taken for the agent's own.
fn named(hooks: &[&str]) -> String {
    let names: Vec<String> = hooks.iter().map(|hook| short(hook, NAME)).collect();
    if names.is_empty() { String::new() } else { format!(" by hook {}", names.join(", ")) }
}
