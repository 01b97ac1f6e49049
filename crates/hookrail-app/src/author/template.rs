//! The files of a new hook, by dialect and language.

use hookrail::EventKind;
use hookrail::event::DialectEvent;
use hookrail_bridge::install::HookGroup;

use super::HookLanguage;
use super::files::{FileMode, IfExists, NewFile};
use super::rules::{Rule, needed_fields};
use super::target::TemplateDialect;

/// A hook to be written.
pub(super) struct HookTemplate<'t> {
    pub(super) name: &'t str,
    pub(super) dialect: TemplateDialect,
    pub(super) language: HookLanguage,
    pub(super) kind: EventKind,
    pub(super) column: &'static DialectEvent,
    pub(super) if_exists: IfExists,
}

/// A file with what it is, for the user.
pub(super) struct DescribedFile {
    pub(super) file: NewFile,
    pub(super) about: String,
}

/// Everything that a template writes.
pub(super) struct HookFiles {
    pub(super) files: Vec<DescribedFile>,
    /// What the settings get; none where the place of a file is the configuration.
    pub(super) group: Option<HookGroup>,
    /// A command that has to be run before the hook works.
    pub(super) build: Option<String>,
}

impl HookTemplate<'_> {
    /// Returns the files of the hook.
    pub(super) fn files(&self) -> HookFiles {
        match self.dialect {
            TemplateDialect::Module => self.module(),
            TemplateDialect::Plugin => self.plugin(),
            TemplateDialect::Settings => self.command_hook(),
        }
    }

    fn file(&self, path: String, text: String, mode: FileMode, about: impl Into<String>) -> DescribedFile {
        DescribedFile { file: NewFile { path, text, mode, if_exists: self.if_exists }, about: about.into() }
    }

    /// Returns the rule of the hook, and what it is about.
    fn rule(&self) -> (Option<Rule>, String) {
        let rule = Rule::find(self.dialect, self.kind);
        let about =
            rule.as_ref().map_or_else(|| format!("takes note of {}", self.column.name), |rule| rule.about.clone());
        (rule, about)
    }

    fn command_hook(&self) -> HookFiles {
        let (name, folder) = (self.name, ".llxprt/hooks");
        let (rule, about) = self.rule();
        let program = self.program(folder, "$LLXPRT_PROJECT_DIR/.llxprt/hooks", rule.as_ref(), &about);
        let mut files = program.files;
        let tests = self.tests(&format!("hook = \"{name}\""), rule.as_ref(), program.needs, "runs = 1");
        files.push(self.file(format!("{folder}/{name}.hooktest.toml"), tests, FileMode::Plain, "its test cases"));
        let matcher = rule.as_ref().and_then(|rule| rule.matcher.as_deref()).map(|matcher| {
            let comment = "  // Compared with the tool's name: a regular expression, or a pattern such as `write_*`.\n";
            format!("{comment}  \"matcher\": {},\n", quoted(matcher))
        });
        let guard = rule.as_ref().filter(|rule| rule.guard).map(|_| GUARD_SETTINGS);
        let text = fill(
            include_str!("../../assets/templates/settings.jsonc"),
            &[
                ("matcher", &matcher.unwrap_or_default()),
                ("name", &quoted(name)),
                ("about", &quoted(&about)),
                ("command", &quoted(&program.command)),
                ("failure", guard.unwrap_or_default()),
            ],
        );
        let group = HookGroup { event: self.column.name.to_owned(), text: text.trim_end().to_owned() };
        HookFiles { files, group: Some(group), build: program.build }
    }

    fn plugin(&self) -> HookFiles {
        let name = self.name;
        let folder = format!(".x-code/plugins/{name}");
        let (rule, about) = self.rule();
        let program = self.program(&format!("{folder}/scripts"), "${pluginDir}/scripts", rule.as_ref(), &about);
        let mut files = program.files;
        let tests = self.tests("hook = \".\"", rule.as_ref(), program.needs, "runs = 1");
        files.push(self.file(format!("{folder}/{name}.hooktest.toml"), tests, FileMode::Plain, "its test cases"));
        let matcher = rule.as_ref().and_then(|rule| rule.matcher.as_deref());
        let matcher = matcher.map(|matcher| format!("        \"matcher\": {},\n", quoted(matcher)));
        let guard = rule.as_ref().filter(|rule| rule.guard).map(|_| ",\n        \"failurePolicy\": \"block\"");
        let manifest = fill(
            include_str!("../../assets/templates/plugin.json"),
            &[
                ("name", &quoted(name)),
                ("event", &quoted(self.column.name)),
                ("matcher", &matcher.unwrap_or_default()),
                ("command", &quoted(&program.command)),
                ("about", &quoted(&about)),
                ("failure", guard.unwrap_or_default()),
            ],
        );
        let about = format!("the plugin: one hook for {}", self.column.name);
        files.push(self.file(format!("{folder}/.x-code-plugin/plugin.json"), manifest, FileMode::Plain, about));
        HookFiles { files, group: None, build: program.build }
    }

    fn module(&self) -> HookFiles {
        let (name, event) = (self.name, self.column.name);
        let (ending, template) = match self.language {
            HookLanguage::Typescript => ("ts", include_str!("../../assets/templates/module.ts")),
            HookLanguage::Bash | HookLanguage::Python | HookLanguage::Node | HookLanguage::Rust => {
                ("mjs", include_str!("../../assets/templates/module.mjs"))
            }
        };
        let (rule, about) = self.rule();
        let body = match &rule {
            Some(rule) => rule.module.clone(),
            None => fill(include_str!("../../assets/templates/note-body.txt"), &[("event", event)]),
        };
        let text = fill(template, &[("name", name), ("about", &about), ("body", &body)]);
        let noted = format!("runs = 1, stderr_contains = \"told of {event}\"");
        let tests = self.tests(&format!("hook = \"{name}.{ending}\""), rule.as_ref(), None, &noted);
        let (path, tests_path) = (format!(".xcsh/hooks/{name}.{ending}"), format!(".xcsh/hooks/{name}.hooktest.toml"));
        HookFiles {
            files: vec![
                self.file(path, text, FileMode::Plain, format!("the hook: it {about}")),
                self.file(tests_path, tests, FileMode::Plain, "its test cases"),
            ],
            group: None,
            build: None,
        }
    }

    /// Returns the test cases: one in which the rule applies, and one in which it does not; without a rule one that the event is
    /// noted, which expects `noted`.
    fn tests(&self, selects: &str, rule: Option<&Rule>, needs: Option<&str>, noted: &str) -> String {
        let needs = needs.map(|program| format!("needs = \"{program}\"\n")).unwrap_or_default();
        let head = [("name", self.name), ("selects", selects), ("event", self.column.name), ("needs", needs.as_str())];
        match rule {
            Some(rule) => {
                let [hit, miss] = rule.events();
                let cases = [("hit", hit.as_str()), ("miss", &miss), ("expect", &rule.expect)];
                fill(include_str!("../../assets/templates/cases.toml"), &[head.as_slice(), &cases].concat())
            }
            None => {
                let fields = needed_fields(self.kind);
                let case = [("fields", fields.as_str()), ("expect", noted)];
                fill(include_str!("../../assets/templates/note-cases.toml"), &[head.as_slice(), &case].concat())
            }
        }
    }

    /// Returns the program of a command hook in a folder. `shown` is the folder in the command line.
    fn program(&self, folder: &str, shown: &str, rule: Option<&Rule>, about: &str) -> HookProgram {
        let name = self.name;
        let script = |ending: &str, interpreter: &'static str, needs: Option<&'static str>, text: String| HookProgram {
            command: format!("{interpreter} \"{shown}/{name}.{ending}\""),
            files: vec![self.file(
                format!("{folder}/{name}.{ending}"),
                text,
                FileMode::Executable,
                format!("the hook: it {about}"),
            )],
            build: None,
            needs,
        };
        match self.language {
            HookLanguage::Bash => script("sh", "sh", None, self.program_text(rule, about)),
            HookLanguage::Python => script("py", "python3", Some("python3"), self.program_text(rule, about)),
            HookLanguage::Node | HookLanguage::Typescript => {
                script("mjs", "node", Some("node"), self.program_text(rule, about))
            }
            HookLanguage::Rust => {
                let package = format!("{folder}/{name}");
                let plain = |file: &str, text: String, about: &str| {
                    self.file(format!("{package}/{file}"), text, FileMode::Plain, about)
                };
                let dependency = match self.dialect {
                    // The crate is in no registry yet.
                    TemplateDialect::Settings => {
                        concat!("hookrail-hook = { git = \"", env!("CARGO_PKG_REPOSITORY"), "\" }")
                    }
                    TemplateDialect::Plugin | TemplateDialect::Module => "serde_json = \"1.0\"",
                };
                let members = [("name", name), ("dependency", dependency)];
                let manifest = fill(include_str!("../../assets/templates/package.toml"), &members);
                HookProgram {
                    command: format!("\"{shown}/{name}/target/release/{name}\""),
                    files: vec![
                        plain("src/main.rs", self.program_text(rule, about), &format!("the hook: it {about}")),
                        plain("Cargo.toml", manifest, "its package"),
                        plain(".gitignore", "/target\n".to_owned(), "keeps what cargo builds out of the repository"),
                    ],
                    build: Some(format!("cargo build --release --manifest-path {package}/Cargo.toml")),
                    needs: None,
                }
            }
        }
    }

    /// Returns the text of a program that follows the rule, or else takes note of the event.
    fn program_text(&self, rule: Option<&Rule>, about: &str) -> String {
        let head = [("name", self.name), ("about", about), ("event", self.column.name)];
        let Some(rule) = rule else {
            let template = match self.language {
                HookLanguage::Bash => include_str!("../../assets/templates/note.sh"),
                HookLanguage::Python => include_str!("../../assets/templates/note.py"),
                HookLanguage::Node | HookLanguage::Typescript => include_str!("../../assets/templates/note.mjs"),
                HookLanguage::Rust => include_str!("../../assets/templates/note.rs"),
            };
            return fill(template, &head);
        };
        let is_of_settings = self.dialect == TemplateDialect::Settings;
        let template = match self.language {
            HookLanguage::Bash if is_of_settings && self.kind == EventKind::BeforeTool => {
                include_str!("../../assets/templates/guard.sh")
            }
            HookLanguage::Bash => include_str!("../../assets/templates/rule.sh"),
            HookLanguage::Python => include_str!("../../assets/templates/rule.py"),
            HookLanguage::Node | HookLanguage::Typescript => include_str!("../../assets/templates/rule.mjs"),
            HookLanguage::Rust if is_of_settings => include_str!("../../assets/templates/rule.rs"),
            HookLanguage::Rust => include_str!("../../assets/templates/rule-json.rs"),
        };
        let (key, first) = rule.path.split_last().map_or(("", &[][..]), |(last, first)| (last.as_str(), first));
        let place: String = first.iter().map(|key| format!("[\"{key}\"]")).collect();
        let mut imports = ["HookAnswer", self.column.name];
        imports.sort_unstable();
        let [rust_text, rust_answer] = rule.rust.each_ref().map(String::as_str);
        let parts = [
            ("key", key),
            ("place", &place),
            ("chain", &rule.path.join("?.")),
            ("pointer", &rule.path.join("/")),
            ("word", &rule.word),
            ("pattern", &rule.word.replace('.', "\\.")),
            ("answer", &rule.answer),
            ("imports", &imports.join(", ")),
            ("rust_text", rust_text),
            ("rust_answer", rust_answer),
        ];
        fill(template, &[head.as_slice(), &parts].concat())
    }
}

/// What a guard has in settings behind its timeout.
const GUARD_SETTINGS: &str = r#",
      // A guard that fails must not allow everything.
      "onFailure": "block",
      // The hook can read everything, write only a private temporary folder, and has no network (enforced on Linux).
      "sandbox": "guard""#;

/// The program of a command hook.
struct HookProgram {
    command: String,
    files: Vec<DescribedFile>,
    build: Option<String>,
    /// The program that must be there for it.
    needs: Option<&'static str>,
}

/// Puts values in the place of their names in a template, such as `{{name}}`.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(template.to_owned(), |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
