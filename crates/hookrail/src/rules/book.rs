//! The rules of one file, for trying them on lines without a project.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::AddedPrograms;
use super::examples::TriedExample;
use super::facts::CallFacts;
use super::judge::{RuleVerdict, judge};
use super::read::{RulesFile, read_rules};
use super::read_condition::Problem;
use super::rule::{Rule, RuleMatch};
use super::scene::{ExampleSurroundings, Links, RuleScene};
use crate::event::{Event, EventKind};
use crate::json::Json;
use crate::tools::Tools;

/// The rules of one file.
///
/// ```
/// use hookrail::rules::{CallPlaces, RuleBook};
///
/// let text = "[[rule]]\nname = \"a\"\ndeny = \"no\"\nwhen = { tool = \"run_shell_command\" }\n";
/// let book = RuleBook::read(text).unwrap();
/// let places = CallPlaces { project: "/p".as_ref(), cwd: "/p".as_ref(), home: None };
/// assert_eq!(&*book.judge_line("ls", places)[0].rule, "a");
/// ```
#[derive(Debug)]
pub struct RuleBook {
    file: RulesFile,
    programs: AddedPrograms,
}

/// What is wrong in a file of rules.
#[derive(Clone, Debug)]
pub struct RuleProblem {
    /// The bytes that are meant.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What could be done.
    pub hint: Option<String>,
}

impl From<&Problem> for RuleProblem {
    fn from(problem: &Problem) -> Self {
        let Problem { span, message, hint } = problem.clone();
        Self { span, message, hint }
    }
}

/// Where a line would run.
#[derive(Clone, Copy, Debug)]
pub struct CallPlaces<'p> {
    /// The project's directory.
    pub project: &'p Path,
    /// The working directory.
    pub cwd: &'p Path,
    /// The home directory.
    pub home: Option<&'p Path>,
}

impl RuleBook {
    /// Reads a file of rules. A rule that is wrong is among the problems and applies to what it names.
    ///
    /// # Errors
    ///
    /// It is no TOML.
    pub fn read(text: &str) -> Result<Self, RuleProblem> {
        Self::read_with(text, AddedPrograms::default())
    }

    /// Reads a file of rules whose examples know what was said about programs.
    ///
    /// # Errors
    ///
    /// It is no TOML.
    pub fn read_with(text: &str, programs: AddedPrograms) -> Result<Self, RuleProblem> {
        let file = read_rules(text, &programs).map_err(|problem| RuleProblem::from(&problem))?;
        Ok(Self { file, programs })
    }

    /// What is wrong.
    #[must_use]
    pub fn problems(&self) -> Vec<RuleProblem> {
        self.file.problems.iter().map(RuleProblem::from).collect()
    }

    /// The examples of every rule, tried.
    pub fn examples(&self) -> impl Iterator<Item = (&str, &[TriedExample])> {
        self.file.rules.iter().map(|read| (read.rule.name(), read.examples.as_slice()))
    }

    /// The rules in the order of the file.
    pub fn rules(&self) -> impl Iterator<Item = &Arc<Rule>> {
        self.file.rules.iter().map(|read| &read.rule)
    }

    /// The rules that match a shell line before it runs. No file is looked at.
    #[must_use]
    pub fn judge_line(&self, line: &str, places: CallPlaces<'_>) -> Vec<RuleMatch> {
        let input = Json::from(serde_json::json!({ "command": line }));
        self.judge_call("run_shell_command", input, places)
    }

    /// The rules that match a call of a tool before it runs. No file is looked at.
    #[must_use]
    pub fn judge_call(&self, tool: &str, input: Json, places: CallPlaces<'_>) -> Vec<RuleMatch> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let scene = RuleScene {
            project: text(places.project),
            home: places.home.map(text),
            surroundings: Arc::new(ExampleSurroundings::new(places.project, places.home)),
            links: Links::Ignored,
            programs: self.programs.clone(),
        };
        let event = Event::new(EventKind::BeforeTool, places.cwd);
        let event = event.with_text("tool_name", tool).with("tool_input", input);
        let tools = Tools::default();
        let facts = CallFacts::new(&event, &tools, &scene);
        let judged = self.file.rules.iter().filter(|read| read.events.contains(&EventKind::BeforeTool));
        let matched = judged.filter_map(|read| match judge(&read.rule, &facts) {
            RuleVerdict::Matches(found) => Some(found),
            RuleVerdict::DoesNotMatch | RuleVerdict::NotTold(_) => None,
        });
        matched.collect()
    }
}
