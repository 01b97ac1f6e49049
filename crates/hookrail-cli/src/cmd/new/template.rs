//! The files of a new hook, by dialect and language.

use std::fmt::Write as _;

use hookrail::EventKind;
use hookrail::event::DialectEvent;
use hookrail_bridge::install::HookGroup;

use super::files::{FileMode, IfExists, NewFile};
use super::samples::{FailureMeaning, Sample, needed_fields, sample};
use super::target::TemplateDialect;
use crate::args::HookLanguage;

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
    fn rule(&self) -> (Option<Sample>, String) {
        let sample = sample(self.dialect, self.kind);
        let about = sample
            .as_ref()
            .map_or_else(|| format!("takes note of {}", self.column.name), |sample| sample.about.clone());
        (sample, about)
    }

    fn command_hook(&self) -> HookFiles {
        let name = self.name;
        let folder = ".llxprt/hooks";
        let (sample, about) = self.rule();
        let program = self.program(folder, "$LLXPRT_PROJECT_DIR/.llxprt/hooks", name, sample.as_ref(), &about);
        let mut files = program.files;
        let tests = self.tests(&format!("hook = \"{name}\""), sample.as_ref(), program.needs);
        files.push(self.file(format!("{folder}/{name}.hooktest.toml"), tests, FileMode::Plain, "its test cases"));
        let group = HookGroup {
            event: self.column.name.to_owned(),
            text: settings_group(name, &about, &program.command, sample.as_ref()),
        };
        HookFiles { files, group: Some(group), build: program.build }
    }

    fn plugin(&self) -> HookFiles {
        let name = self.name;
        let folder = format!(".x-code/plugins/{name}");
        let (sample, about) = self.rule();
        let program = self.program(&format!("{folder}/scripts"), "${pluginDir}/scripts", name, sample.as_ref(), &about);
        let mut files = program.files;
        let tests = self.tests("hook = \".\"", sample.as_ref(), program.needs);
        files.push(self.file(format!("{folder}/{name}.hooktest.toml"), tests, FileMode::Plain, "its test cases"));
        let manifest = manifest(name, self.column.name, &about, &program.command, sample.as_ref());
        let about = format!("the plugin: one hook for {}", self.column.name);
        files.push(self.file(format!("{folder}/.x-code-plugin/plugin.json"), manifest, FileMode::Plain, about));
        HookFiles { files, group: None, build: program.build }
    }

    fn module(&self) -> HookFiles {
        let ending = if self.language == HookLanguage::Typescript { "ts" } else { "mjs" };
        let path = format!(".xcsh/hooks/{}.{ending}", self.name);
        let (about, body, expect) = module_body(self.kind, self.column.name);
        let text = if self.language == HookLanguage::Typescript {
            format!(
                "// {}: {about}.\n// `hookrail types` writes the types for the editor beside this file.\n\
                 import type {{ HookAPI }} from \"@f5xc-salesdemos/xcsh/hooks\";\n\n\
                 export default function (pi: HookAPI): void {{\n{body}}}\n",
                self.name
            )
        } else {
            let kind = "/** @param {import(\"@f5xc-salesdemos/xcsh/hooks\").HookAPI} pi */";
            format!("// {}: {about}.\n\n{kind}\nexport default function (pi) {{\n{body}}}\n", self.name)
        };
        let head = tests_head(self.name, &format!("hook = \"{}.{ending}\"", self.name), self.column.name, None);
        let tests = format!("{head}{expect}");
        HookFiles {
            files: vec![
                self.file(path, text, FileMode::Plain, format!("the hook: it {about}")),
                self.file(format!(".xcsh/hooks/{}.hooktest.toml", self.name), tests, FileMode::Plain, "its test cases"),
            ],
            group: None,
            build: None,
        }
    }

    /// Returns the test cases: one in which the rule applies, and one in which it does not.
    fn tests(&self, selects: &str, sample: Option<&Sample>, needs: Option<&str>) -> String {
        let mut text = tests_head(self.name, selects, self.column.name, needs);
        match sample {
            Some(sample) => {
                let [hit, miss] = sample.texts;
                let lines = |given: &str| sample.event_lines.replace("{text}", given);
                let _ = write!(
                    text,
                    "\n[[case]]\nname = \"the rule applies\"\n{}\nexpect = {{ {} }}\n\
                     \n[[case]]\nname = \"the rule does not apply\"\n{}\nexpect = {{ silent = true, runs = 1 }}\n",
                    lines(hit),
                    sample.expect,
                    lines(miss)
                );
            }
            None => {
                let fields = needed_fields(self.kind);
                let _ = write!(text, "\n[[case]]\nname = \"the event is noted\"\n{fields}\nexpect = {{ runs = 1 }}\n");
            }
        }
        text
    }

    /// Returns the program of a command hook in a folder. `shown` is the folder in the command line.
    fn program(&self, folder: &str, shown: &str, name: &str, sample: Option<&Sample>, about: &str) -> HookProgram {
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
            HookLanguage::Bash => script("sh", "sh", None, self.shell_text(name, sample, about)),
            HookLanguage::Python => script("py", "python3", Some("python3"), python_text(name, sample, about)),
            HookLanguage::Node | HookLanguage::Typescript => {
                script("mjs", "node", Some("node"), node_text(name, sample, about))
            }
            HookLanguage::Rust => {
                let package = format!("{folder}/{name}");
                let plain = |file: &str, text: String, about: &str| {
                    self.file(format!("{package}/{file}"), text, FileMode::Plain, about)
                };
                HookProgram {
                    command: format!("\"{shown}/{name}/target/release/{name}\""),
                    files: vec![
                        plain("src/main.rs", self.rust_text(name, sample, about), &format!("the hook: it {about}")),
                        plain("Cargo.toml", self.cargo_text(name), "its package"),
                        plain(".gitignore", "/target\n".to_owned(), "keeps what cargo builds out of the repository"),
                    ],
                    build: Some(format!("cargo build --release --manifest-path {package}/Cargo.toml")),
                    needs: None,
                }
            }
        }
    }

    fn shell_text(&self, name: &str, sample: Option<&Sample>, about: &str) -> String {
        if self.dialect == TemplateDialect::Settings && self.kind == EventKind::BeforeTool {
            return include_str!("../../../assets/init/guard.sh").to_owned();
        }
        let Some(sample) = sample else {
            return format!(
                "#!/bin/sh\n# {name}: {about}. The event is one JSON object on standard input.\n\n\
                 cat >/dev/null\necho '{name} was told of {}' >&2\n",
                self.column.name
            );
        };
        let key = sample.path.last().copied().unwrap_or_default();
        let word = sample.word.replace('.', "\\.");
        format!(
            "#!/bin/sh\n# {name}: {about}.\n#\n\
             # The event is one JSON object on standard input, and the answer is one on standard output. No answer is no\n\
             # opinion. This is a sample that uses nothing but `grep`: it does not undo JSON escapes.\n\n\
             if grep -Eq '\"{key}\"[[:space:]]*:[[:space:]]*\"[^\"]*{word}'; then\n    \
             printf '%s\\n' '{}'\nfi\n",
            sample.answer
        )
    }

    fn rust_text(&self, name: &str, sample: Option<&Sample>, about: &str) -> String {
        let event = self.column.name;
        match sample {
            Some(sample) if self.dialect == TemplateDialect::Settings => {
                let [subject, answer] = sample.rust;
                let word = sample.word;
                let mut imports = ["HookAnswer", event];
                imports.sort_unstable();
                let imports = imports.join(", ");
                format!(
                    "//! {name}: {about}.\n\nuse std::process::ExitCode;\n\nuse hookrail_hook::{{{imports}}};\n\n\
                     fn main() -> ExitCode {{\n    hookrail_hook::run(|event: {event}| {{\n        \
                     let text = {subject};\n        if text.contains(\"{word}\") {{\n            {answer}\n        \
                     }} else {{\n            HookAnswer::none()\n        }}\n    }})\n}}\n"
                )
            }
            sample => {
                let rule = sample.map_or_else(
                    || format!("    eprintln!(\"{name} was told of {event}\");\n    let _ = event;\n"),
                    |sample| {
                        let pointer = sample.path.join("/");
                        format!(
                            "    let text = event.pointer(\"/{pointer}\").and_then(|text| text.as_str()).unwrap_or_default();\n    \
                             if text.contains(\"{}\") {{\n        println!(\"{{}}\", serde_json::json!({}));\n    }}\n",
                            sample.word, sample.answer
                        )
                    },
                );
                format!(
                    "//! {name}: {about}.\n\nfn main() -> Result<(), serde_json::Error> {{\n    \
                     let event: serde_json::Value = serde_json::from_reader(std::io::stdin())?;\n{rule}    Ok(())\n}}\n"
                )
            }
        }
    }

    fn cargo_text(&self, name: &str) -> String {
        let dependency = match self.dialect {
            TemplateDialect::Settings => concat!("hookrail-hook = \"", env!("CARGO_PKG_VERSION"), "\""),
            TemplateDialect::Plugin | TemplateDialect::Module => "serde_json = \"1.0\"",
        };
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
             [dependencies]\n{dependency}\n\n# The hook is no part of a workspace around it.\n[workspace]\n"
        )
    }
}

/// The program of a command hook.
struct HookProgram {
    command: String,
    files: Vec<DescribedFile>,
    build: Option<String>,
    /// The program that must be there for it.
    needs: Option<&'static str>,
}

fn python_text(name: &str, sample: Option<&Sample>, about: &str) -> String {
    let rule = match sample {
        Some(sample) => {
            let (last, first) = sample.path.split_last().map_or(("", &[][..]), |(last, first)| (*last, first));
            let place: String = first.iter().map(|key| format!("[\"{key}\"]")).collect();
            format!(
                "text = str(event{place}.get(\"{last}\", \"\"))\nif \"{}\" in text:\n    print(json.dumps({}))\n",
                sample.word, sample.answer
            )
        }
        None => format!("print(\"{name} was told of\", event[\"event\"], file=sys.stderr)\n"),
    };
    format!(
        "#!/usr/bin/env python3\n\"\"\"{name}: {about}.\n\n\
         The event is one JSON object on standard input, and the answer is one on standard output. No answer is no opinion.\n\
         \"\"\"\nimport json\nimport sys\n\nevent = json.load(sys.stdin)\n{rule}"
    )
}

fn node_text(name: &str, sample: Option<&Sample>, about: &str) -> String {
    let rule = match sample {
        Some(sample) => format!(
            "const text = String(event.{} ?? \"\");\nif (text.includes(\"{}\")) {{\n  console.log(JSON.stringify({}));\n}}\n",
            sample.path.join("?."),
            sample.word,
            sample.answer
        ),
        None => format!("console.error(\"{name} was told of\", event.event);\n"),
    };
    format!(
        "#!/usr/bin/env node\n// {name}: {about}.\n//\n\
         // The event is one JSON object on standard input, and the answer is one on standard output. No answer is no opinion.\n\
         import {{ readFileSync }} from \"node:fs\";\n\nconst event = JSON.parse(readFileSync(0, \"utf8\"));\n{rule}"
    )
}

/// Returns the group of a command hook in a settings file.
fn settings_group(name: &str, about: &str, command: &str, sample: Option<&Sample>) -> String {
    let mut text = "{\n".to_owned();
    if let Some(matcher) = sample.and_then(|sample| sample.matcher) {
        let _ = write!(
            text,
            "  // Compared with the tool's name: a regular expression, or a pattern such as `write_*`.\n  \
             \"matcher\": {},\n",
            quoted(matcher)
        );
    }
    let _ = write!(
        text,
        "  \"hooks\": [\n    {{\n      \"type\": \"command\",\n      \"name\": {},\n      \"description\": {},\n      \
         \"command\": {},\n      // In milliseconds.\n      \"timeout\": 5000",
        quoted(name),
        quoted(about),
        quoted(command)
    );
    if sample.is_some_and(|sample| sample.failure == FailureMeaning::Blocks) {
        text.push_str(
            ",\n      // A guard that fails must not allow everything.\n      \"onFailure\": \"block\",\n      \
             // The hook can read everything, write only a private temporary folder, and has no network (enforced on Linux).\n      \
             \"sandbox\": \"guard\"",
        );
    }
    text.push_str("\n    }\n  ]\n}");
    text
}

/// Returns the manifest of a plugin with one hook.
fn manifest(name: &str, event: &str, about: &str, command: &str, sample: Option<&Sample>) -> String {
    let matcher = sample
        .and_then(|sample| sample.matcher)
        .map(|matcher| format!("        \"matcher\": {},\n", quoted(matcher)))
        .unwrap_or_default();
    let failure = match sample.map(|sample| sample.failure) {
        Some(FailureMeaning::Blocks) => ",\n        \"failurePolicy\": \"block\"",
        Some(FailureMeaning::Passes) | None => "",
    };
    format!(
        "{{\n  \"name\": {},\n  \"version\": \"0.1.0\",\n  \"description\": {},\n  \
         \"hooks\": {{\n    {}: [\n      {{\n{matcher}        \"command\": {},\n        \"timeout\": 5000,\n        \
         \"description\": {}{failure}\n      }}\n    ]\n  }}\n}}\n",
        quoted(name),
        quoted(about),
        quoted(event),
        quoted(command),
        quoted(about)
    )
}

fn tests_head(name: &str, selects: &str, event: &str, needs: Option<&str>) -> String {
    let needs = needs.map(|program| format!("needs = \"{program}\"\n")).unwrap_or_default();
    format!(
        "# Cases for the hook `{name}`: `hookrail test` runs them.\n\n\
         [defaults]\n{selects}\nevent = \"{event}\"\n{needs}"
    )
}

/// Returns what a module does in an event: a sentence, the body of its factory, and its test cases.
fn module_body(kind: EventKind, event: &str) -> (String, String, String) {
    let case = |name: &str, fields: &str, expect: &str| {
        format!("\n[[case]]\nname = \"{name}\"\n{fields}\nexpect = {{ {expect} }}\n")
    };
    let both = |lines: &str, texts: [&str; 2], expect: &str| {
        let [hit, miss] = texts.map(|text| lines.replace("{text}", text));
        case("the rule applies", &hit, expect) + &case("the rule does not apply", &miss, "silent = true, runs = 1")
    };
    match kind {
        EventKind::BeforeTool => (
            "keeps the agent from writing `.env` files".to_owned(),
            "\tpi.on(\"tool_call\", async (event) => {\n\
             \t\tconst path = String(event.input.path ?? \"\");\n\
             \t\tif (path.includes(\".env\")) return { block: true, reason: \"files named `.env` hold secrets\" };\n\
             \t});\n"
                .to_owned(),
            both(
                "tool = \"write\"\ntool_input = { path = \"{text}\" }",
                ["config/.env", "notes.md"],
                "decision = \"deny\", reason_contains = \"secrets\"",
            ),
        ),
        EventKind::AfterTool => (
            "removes passwords from what the model sees".to_owned(),
            "\tpi.on(\"tool_result\", async (event) => {\n\
             \t\tconst text = event.content.map((part) => (part.type === \"text\" ? part.text : \"\")).join(\"\");\n\
             \t\tif (text.includes(\"password\")) return { content: [{ type: \"text\", text: \"[removed]\" }] };\n\
             \t});\n"
                .to_owned(),
            both(
                "tool = \"bash\"\ntool_input = { command = \"env\" }\ntool_response = { llmContent = \"{text}\" }",
                ["the password is 1234", "nothing"],
                "outcome = { toolOutput = { content = [{ type = \"text\", text = \"[removed]\" }] } }",
            ),
        ),
        EventKind::Prompt => (
            "reminds the model of a rule when the prompt is about deployments".to_owned(),
            "\tpi.on(\"before_agent_start\", async (event) => {\n\
             \t\tif (!event.prompt.includes(\"deploy\")) return;\n\
             \t\treturn { message: { customType: \"rule\", content: \"Only people deploy.\", display: false } };\n\
             \t});\n"
                .to_owned(),
            both(
                "prompt = \"{text}\"",
                ["deploy it", "write a test"],
                "outcome = { messages = [{ customType = \"rule\", content = \"Only people deploy.\", display = false }] }",
            ),
        ),
        _ => (
            format!("takes note of {event}"),
            format!(
                "\tpi.on(\"{event}\", async (event) => {{\n\
                 \t\tpi.logger.info(`told of ${{event.type}}`);\n\
                 \t}});\n"
            ),
            case(
                "the event is noted",
                &needed_fields(kind),
                &format!("runs = 1, stderr_contains = \"told of {event}\""),
            ),
        ),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
