//! Recipes: the hooks of the cookbook, ready to be used in a project.

use hookrail_bridge::install::groups_in;

use super::files::{FileMode, IfExists, NewFile};
use super::template::DescribedFile;
use super::{WrittenHooks, write_all};
use crate::failure::{Failure, Result};
use crate::project::Project;

/// A hook of the cookbook. Its files are those of `examples/hooks/NAME` in the repository, to which a folder of this
/// package is a link, so that they are part of the published package too.
struct Recipe {
    name: &'static str,
    /// What the hook does, in one line.
    about: &'static str,
    /// The name of the script.
    script: &'static str,
    text: &'static str,
    settings: &'static str,
    tests: &'static str,
}

impl Recipe {
    /// The test cases for a project that has the hook: they test the script beside them, under the settings of the project. In the
    /// repository they bring both themselves.
    fn project_tests(&self) -> String {
        let mut text = String::new();
        for line in self.tests.lines() {
            match line.split(" = ").next() {
                Some("settings") => text.push_str(&format!("hook = \"{}\"", self.script)),
                Some("copy") => continue,
                _ => text.push_str(line),
            }
            text.push('\n');
        }
        text
    }

    /// The files of a project that has the hook.
    fn files(&self, if_exists: IfExists) -> [DescribedFile; 2] {
        let file = |name: &str, text: &str, mode: FileMode, about: String| DescribedFile {
            file: NewFile { path: format!(".llxprt/hooks/{name}"), text: text.to_owned(), mode, if_exists },
            about,
        };
        let cases = format!("{}.hooktest.toml", self.name);
        [
            file(self.script, self.text, FileMode::Executable, format!("the hook: it {}", self.about)),
            file(&cases, &self.project_tests(), FileMode::Plain, "its test cases".to_owned()),
        ]
    }

    /// Whether the test cases bring programs, variables or files, which hooks could execute.
    fn has_tests_that_bring_code(&self) -> bool {
        let keys = ["env", "files", "links", "programs"];
        self.tests.lines().any(|line| line.split_once(" = ").is_some_and(|(key, _)| keys.contains(&key)))
    }
}

/// The recipes: the name, the ending of the script, and what the hook does.
macro_rules! recipes {
    ($($name:literal, $ending:literal, $about:literal;)+) => {
        [$(Recipe {
            name: $name,
            about: $about,
            script: concat!($name, ".", $ending),
            text: include_str!(concat!("../../recipes/", $name, "/", $name, ".", $ending)),
            settings: include_str!(concat!("../../recipes/", $name, "/settings.json")),
            tests: include_str!(concat!("../../recipes/", $name, "/", $name, ".hooktest.toml")),
        }),+]
    };
}

static RECIPES: &[Recipe] = &recipes! {
    "audit-log", "py", "appends a line for each event to a log";
    "budget", "mjs", "stops the agent when a session has used too many tokens";
    "commit-message", "py", "sends commit messages back that say nothing";
    "format-after-write", "py", "formats a file after a tool has written it";
    "notify", "sh", "shows a desktop notification when a tool waits for permission";
    "project-context", "py", "tells the model about the branch, the commits and AGENTS.md";
    "prompt-guard", "mjs", "denies prompts with keys, tokens and passwords";
    "read-only", "sh", "lets the agent only read while a file exists";
    "redact-response", "mjs", "removes keys and tokens from the model's responses";
    "secret-scan", "py", "denies writing files with keys and tokens";
    "test-gate", "sh", "runs the tests when the agent says that it is done";
    "transcript-backup", "py", "copies the transcript before it is compressed";
};

/// Returns the name of every recipe, and what its hook does.
pub fn recipes() -> impl Iterator<Item = (&'static str, &'static str)> {
    RECIPES.iter().map(|recipe| (recipe.name, recipe.about))
}

/// Adds the hooks of these recipes to a project, all or none.
pub fn add_recipes(project: &Project, names: &[String], if_exists: IfExists) -> Result<WrittenHooks> {
    let mut wanted: Vec<&Recipe> = Vec::new();
    for name in names {
        let Some(recipe) = RECIPES.iter().find(|recipe| recipe.name == name) else {
            return Err(Failure::new(format!("there is no recipe `{name}`")).hint("`hookrail add` lists them"));
        };
        if !wanted.iter().any(|known| known.name == recipe.name) {
            wanted.push(recipe);
        }
    }
    let (mut files, mut groups) = (Vec::new(), Vec::new());
    for recipe in &wanted {
        files.extend(recipe.files(if_exists));
        groups.extend(
            groups_in(recipe.settings)
                .map_err(|error| Failure::new(format!("the settings of `{}` cannot be read: {error}", recipe.name)))?,
        );
    }
    let mut events: Vec<&str> = Vec::new();
    for group in &groups {
        if !events.contains(&group.event.as_str()) {
            events.push(&group.event);
        }
    }
    let about = format!("hooks for {}", events.join(", "));
    let brings_code = wanted.iter().any(|recipe| recipe.has_tests_that_bring_code());
    let test = if brings_code { "hookrail test --trust-project" } else { "hookrail test" };
    let next = vec!["hookrail trust grant".to_owned(), test.to_owned(), "hookrail docs how-to/recipes".to_owned()];
    write_all(project.root(), files, &groups, about, next)
}
