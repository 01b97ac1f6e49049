//! Reads a case file: checks every key against the table and makes the cases. All problems of a file are reported, each
//! with its place. A file with a problem gives no cases: a test that is half read could pass for the wrong reason.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use crate::event_draft::{EventFields, make_event};
use hookrail::sources::{Document, Location, PlacedKey, PlacedValue, ValueShape, nearest, read_file};
use hookrail::{Code, Diagnostic, DialectId, Json};
use hookrail_bridge::Agent;
use serde_json::Value;

use super::case::{Case, Expectations, ExpectedDiagnostics, PerRun, Rewrite};
use super::document::parse;
use super::scratch_path::ScratchPath;
use super::stored_outcome::slug;
use super::table::{CASE_KEYS, EXPECT_KEYS, FILE_KEYS, JOINED_KEYS, KeyRow, OWN_KEYS, ValueKind};

/// Reads the cases of a file.
pub(super) fn read_cases(file: &Path) -> Result<Vec<Case>, Vec<Diagnostic>> {
    let unreadable = |why: String| {
        let message = format!("the case file cannot be read: {why}");
        vec![Diagnostic::new(Code::FileUnreadable, message).at(Location::whole_file(file))]
    };
    let text = read_file(file).map_err(|problem| unreadable(problem.to_string()))?;
    let text = text.ok_or_else(|| unreadable("it does not exist".to_owned()))?;
    parse_cases(file, &text)
}

/// Reads the cases of a text as if it were in a file of this name.
pub(super) fn parse_cases(file: &Path, text: &str) -> Result<Vec<Case>, Vec<Diagnostic>> {
    let document = parse(file, text).map_err(|problem| vec![problem])?;
    let mut reader = Reader { document: &document, found: Vec::new() };
    let cases = document.root().map(|root| reader.read_file(root)).unwrap_or_default();
    if reader.found.is_empty() {
        return Ok(cases);
    }
    let start = |finding: &Diagnostic| finding.location.as_ref().map(|location| location.span.start);
    reader.found.sort_by_key(start);
    Err(reader.found)
}

/// A key with its value.
type Member = (PlacedKey, PlacedValue);

struct Reader<'r> {
    document: &'r Document,
    found: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn read_file(&mut self, root: &PlacedValue) -> Vec<Case> {
        let Some(members) = root.members() else {
            self.report(&root.span, format!("a case file is a table, not {}", described(root)), EXAMPLE);
            return Vec::new();
        };
        self.report_unknown(members, FILE_KEYS, "a case file");
        let get = |name: &str| members.iter().find(|(key, _)| key.name == name).map(|(_, value)| value);
        let defaults = match get("defaults") {
            Some(node) => self.read_defaults(node),
            None => Vec::new(),
        };
        let Some(cases) = get("case") else {
            self.report(&(0..0), "the file has no cases".to_owned(), EXAMPLE);
            return Vec::new();
        };
        let ValueShape::Array(cases) = &cases.shape else {
            let message = format!("`case` is a list of tables, not {}", described(cases));
            self.report(&cases.span, message, "write `[[case]]` above each case");
            return Vec::new();
        };
        if cases.is_empty() {
            self.report(&(0..0), "the file has no cases".to_owned(), EXAMPLE);
        }
        let mut names = BTreeSet::new();
        let mut read = Vec::new();
        for node in cases {
            let Some(members) = node.members() else {
                self.report(&node.span, format!("a case is a table, not {}", described(node)), EXAMPLE);
                continue;
            };
            let before = self.found.len();
            let case = self.read_case(node, &joined(&defaults, members));
            if !case.name.is_empty() && !names.insert(case.name.clone()) {
                let span = span_of(members, "name").unwrap_or_else(|| node.span.clone());
                self.report(&span, format!("two cases are called `{}`", case.name), "give each case a name of its own");
            }
            if self.found.len() == before {
                read.push(case);
            }
        }
        read
    }

    fn read_defaults(&mut self, node: &PlacedValue) -> Vec<Member> {
        let Some(members) = node.members() else {
            self.report(&node.span, format!("`defaults` is a table, not {}", described(node)), EXAMPLE);
            return Vec::new();
        };
        let (own, shared): (Vec<&Member>, Vec<&Member>) =
            members.iter().partition(|(key, _)| OWN_KEYS.contains(&key.name.as_str()));
        for (key, _) in own {
            let message = format!("`{}` cannot be a default", key.name);
            self.report(&key.span, message, "write it in each case");
        }
        shared.into_iter().cloned().collect()
    }

    fn read_case(&mut self, node: &PlacedValue, members: &[Member]) -> Case {
        self.report_unknown(members, CASE_KEYS, "a case");
        let values = self.checked(members, CASE_KEYS);
        let mut case = Case {
            name: values.text("name").unwrap_or_default(),
            location: Some(self.place(&node.span)),
            hook: values.text("hook"),
            settings: values.text("settings"),
            payload: values.get("payload").and_then(payload_of),
            tool: values.text("tool"),
            tool_input: values.value("tool_input"),
            tool_response: values.value("tool_response"),
            prompt: values.text("prompt"),
            session_id: values.text("session_id"),
            dialect: values.text("dialect").and_then(|name| DialectId::from_name(&name)),
            env: values.texts_by_name("env"),
            inherit_env: values.texts("inherit_env"),
            files: values.texts_by_name("files"),
            links: values.texts_by_name("links"),
            programs: values.texts_by_name("programs"),
            copy: values.texts_by_name("copy"),
            needs: values.texts("needs"),
            repeat: values.count("repeat").unwrap_or_default(),
            skip: values.text("skip"),
            ..Case::default()
        };
        if case.name.trim().is_empty() && (values.get("name").is_some() || !values.is_given("name")) {
            self.report(
                &node.span,
                "the case has no `name`".to_owned(),
                "add `name = \"…\"`, which says what is tested",
            );
        }
        if let Some((node, name)) = values.get("agent").and_then(|node| Some((node, node.text()?))) {
            case.agent = Agent::from_name(name);
            if case.agent.is_none() {
                let agents = Agent::ALL.map(Agent::name);
                self.report_word(node, &format!("`{name}` is not an agent"), name, &agents);
            }
        }
        self.check_paths(&values, &["files", "links", "copy"]);
        for (key, _) in values.members("programs").filter(|(key, _)| key.name.contains(['/', '\\'])) {
            let message = format!("`{}` is a path; a program has a name", key.name);
            self.report(&key.span, message, "write the name by which the hook calls the program");
        }
        self.read_event(node, &values, &mut case);
        match values.get("expect") {
            Some(expect) => case.expect = self.read_expectations(expect, &case.name),
            None if values.is_given("expect") => {}
            None => {
                let hint = "add `expect = { decision = \"deny\" }`; `hookrail reference test-cases` lists the keys";
                self.report(&node.span, "the case expects nothing".to_owned(), hint);
            }
        }
        case
    }

    /// Finds the event, and makes it once to check its fields.
    fn read_event(&mut self, node: &PlacedValue, values: &Values<'_>, case: &mut Case) {
        if let (Some(_), Some(stdin)) = (&case.payload, values.get("stdin")) {
            self.report(&stdin.span, "a case has either `payload` or `stdin`".to_owned(), "remove one of them");
        }
        let stdin = values.get("stdin").and_then(payload_of);
        let named = stdin.as_ref().and_then(|stdin| {
            ["hook_event_name", "event", "type"].into_iter().find_map(|key| Some(stdin.get(key)?.as_str()?.to_owned()))
        });
        case.payload = case.payload.take().or(stdin);
        let Some(event) = values.text("event").or(named) else {
            if !values.is_given("event") {
                let hint = "add `event = \"BeforeTool\"`; `hookrail reference events` lists the events";
                self.report(&node.span, "the case has no `event`".to_owned(), hint);
            }
            return;
        };
        case.event = event;
        let payload = || values.get("payload").or_else(|| values.get("stdin"));
        let made = make_event(&event_fields(case), Path::new("/"));
        for finding in made.iter().flat_map(|made| made.fields.findings()) {
            // A field that is not known may be one of the host's own, unless it is nearly the name of a known one.
            let (Code::UnknownKey, Some(hint)) = (finding.code, &finding.hint) else { continue };
            let name = finding.message.split('`').nth(1).unwrap_or_default();
            let members = payload().and_then(PlacedValue::members).unwrap_or_default();
            let span = members.iter().find(|(key, _)| key.name == name).map(|(key, _)| key.span.clone());
            let span = span.or_else(|| Some(payload()?.span.clone())).unwrap_or_else(|| node.span.clone());
            self.report(&span, finding.message.clone(), hint);
        }
        if let Err(failure) = made {
            let about = if crate::event_draft::find_kind(&case.event).is_err() { "event" } else { "payload" };
            let at = values.get(about).or_else(|| values.get("stdin")).or_else(|| values.get("tool_input"));
            let span = at.map_or_else(|| node.span.clone(), |node| node.span.clone());
            let mut finding = Diagnostic::new(Code::CaseInvalid, failure.message()).at(self.place(&span));
            if let Some(hint) = failure.first_hint() {
                finding = finding.hint(hint);
            }
            self.found.push(finding);
        }
    }

    fn read_expectations(&mut self, node: &PlacedValue, name: &str) -> Expectations {
        let members = node.members().unwrap_or_default();
        self.report_unknown(members, EXPECT_KEYS, "`expect`");
        if members.is_empty() {
            let hint = "write at least one expectation, such as `decision = \"deny\"` or `runs = 1`";
            self.report(&node.span, "the case expects nothing".to_owned(), hint);
        }
        let values = self.checked(members, EXPECT_KEYS);
        self.check_paths(&values, &["files_contain", "file_count"]);
        let absent = values.texts("files_absent");
        if let Some(node) = values.get("files_absent") {
            absent.iter().for_each(|path| self.check_path(path, &node.span));
        }
        let decision = values.get("decision").map(|node| node.text().filter(|word| *word != "none").map(str::to_owned));
        let rewrite = values.get("rewrite").map(|node| match node.members() {
            Some(_) => Rewrite::To(to_value(node)),
            None => Rewrite::None,
        });
        let outcome = values.members("outcome").map(|(key, value)| (key.name.clone(), to_value(value))).collect();
        let snapshot = values.get("snapshot").and_then(|node| match node.text() {
            Some(given) => Some(slug(given)),
            None => node.flag()?.then(|| slug(name)),
        });
        Expectations {
            decision,
            reason: values.text("reason"),
            reason_contains: values.texts("reason_contains"),
            silent: values.flag("silent"),
            stop: values.flag("stop"),
            stop_reason_contains: values.texts("stop_reason_contains"),
            rewrite,
            context: values.text("context"),
            context_contains: values.texts("context_contains"),
            message_contains: values.texts("message_contains"),
            outcome,
            runs: values.count("runs"),
            ends: values.get("ends").map(|node| per_run(node, |node| node.text().map(str::to_owned))),
            exit: values.get("exit").map(|node| per_run(node, PlacedValue::count)),
            stdout_contains: values.texts("stdout_contains"),
            stderr_contains: values.texts("stderr_contains"),
            max_ms: values.count("max_ms"),
            diagnostics: self.read_diagnostics(&values),
            commands: values.texts("commands"),
            files_contain: values.texts_by_name("files_contain"),
            files_absent: absent,
            file_count: values
                .members("file_count")
                .filter_map(|(key, value)| Some((key.name.clone(), value.count()?)))
                .collect(),
            snapshot,
        }
    }

    fn read_diagnostics(&mut self, values: &Values<'_>) -> ExpectedDiagnostics {
        let Some(node) = values.get("diagnostics") else { return ExpectedDiagnostics::None };
        let codes = values.texts("diagnostics");
        if codes == ["any"] {
            return ExpectedDiagnostics::Any;
        }
        let known: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
        for code in codes.iter().filter(|code| !known.contains(&code.as_str())) {
            self.report_word(node, &format!("`{code}` is not the code of a diagnostic"), code, &known);
        }
        ExpectedDiagnostics::Exactly(codes)
    }

    /// Checks the values of known keys, and returns those that are as they should be.
    fn checked<'n>(&mut self, members: &'n [Member], rows: &[KeyRow]) -> Values<'n> {
        // A misspelt key counts as given: that it is misspelt is said already.
        let meant = |key: &'n str| match rows.iter().any(|row| row.name == key) {
            true => key,
            false => nearest(key, rows.iter().map(|row| row.name)).unwrap_or(key),
        };
        let mut values =
            Values { good: BTreeMap::new(), given: members.iter().map(|(key, _)| meant(&key.name)).collect() };
        for (key, value) in members {
            let Some(row) = rows.iter().find(|row| row.name == key.name) else { continue };
            if self.check(row, value) {
                values.good.insert(key.name.as_str(), value);
            }
        }
        values
    }

    fn check(&mut self, row: &KeyRow, node: &PlacedValue) -> bool {
        let is_text = |node: &PlacedValue| node.text().is_some();
        let is_flag = |node: &PlacedValue| node.flag().is_some();
        let all = |node: &PlacedValue, fits: &dyn Fn(&PlacedValue) -> bool| match node.elements() {
            Some(elements) => elements.iter().all(fits),
            None => fits(node),
        };
        let members = |fits: &dyn Fn(&PlacedValue) -> bool| {
            node.members().is_some_and(|all| all.iter().all(|(_, value)| fits(value)))
        };
        let is_count = |node: &PlacedValue| node.count().is_some();
        let fits = match row.kind {
            ValueKind::Text => is_text(node),
            ValueKind::Texts => all(node, &is_text),
            ValueKind::Word(words) | ValueKind::Words(words) => {
                let listed = matches!(row.kind, ValueKind::Words(_));
                if matches!(node.shape, ValueShape::Null) && words.contains(&"none") {
                    return true;
                }
                let wrong = match node.elements().filter(|_| listed) {
                    Some(elements) => elements.iter().find(|one| !is_word(one, words)),
                    None => Some(node).filter(|node| !is_word(node, words)),
                };
                if let Some(wrong) = wrong {
                    let written = wrong.text().unwrap_or_default();
                    let message = format!("`{}` must be {}", row.name, row.kind.expected());
                    self.report_word(wrong, &message, written, words);
                    return false;
                }
                true
            }
            ValueKind::Count | ValueKind::Milliseconds => is_count(node),
            ValueKind::Counts => all(node, &is_count),
            ValueKind::Flag => is_flag(node),
            ValueKind::FlagOrText => is_text(node) || is_flag(node),
            ValueKind::Table | ValueKind::Expectations => node.members().is_some(),
            ValueKind::Payload => payload_of(node).is_some(),
            ValueKind::TableOrFalse => node.members().is_some() || node.flag() == Some(false),
            ValueKind::TextTable => members(&is_text),
            ValueKind::CountTable => members(&is_count),
        };
        if !fits {
            let (name, expected) = (row.name, row.kind.expected());
            let message = match &node.shape {
                ValueShape::Number(number) if number.parse().is_ok_and(i64::is_negative) => {
                    format!("`{name}` must be {expected} and not negative, not {number}")
                }
                ValueShape::Number(number) => format!("`{name}` must be {expected}, not {number}"),
                ValueShape::Object(_)
                | ValueShape::Array(_)
                | ValueShape::Text(_)
                | ValueShape::Flag(_)
                | ValueShape::Date(_)
                | ValueShape::Null => format!("`{name}` must be {expected}, not {}", described(node)),
            };
            let hint =
                format!("write for example `{} = {}`: {}", row.name, row.kind.example(), lower_first(row.meaning));
            self.report(&node.span, message, hint.trim_end_matches('.'));
        }
        fits
    }

    fn check_paths(&mut self, values: &Values<'_>, keys: &[&str]) {
        for (key, _) in keys.iter().flat_map(|key| values.members(key)) {
            self.check_path(&key.name, &key.span);
        }
    }

    fn check_path(&mut self, path: &str, span: &Range<usize>) {
        if ScratchPath::parse(path).is_none() {
            let message = format!("`{path}` leads out of the case's own directory");
            self.report(span, message, "write a path below the project, or one that begins with `${home}/`");
        }
    }

    fn report_unknown(&mut self, members: &[Member], rows: &[KeyRow], of: &str) {
        for (key, _) in members.iter().filter(|(key, _)| !rows.iter().any(|row| row.name == key.name)) {
            let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
            let message = format!("`{}` is not a key of {of}", key.name);
            self.report_word_at(&key.span, &message, &key.name, &names);
        }
    }

    /// Reports a word that is not known, with the nearest one, or else all of them.
    fn report_word(&mut self, node: &PlacedValue, message: &str, word: &str, known: &[&str]) {
        self.report_word_at(&node.span, message, word, known);
    }

    fn report_word_at(&mut self, span: &Range<usize>, message: &str, word: &str, known: &[&str]) {
        let hint = match nearest(word, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.len() > 30 => "`hookrail reference diagnostics` lists them".to_owned(),
            None => {
                format!("write one of {}", known.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", "))
            }
        };
        self.report(span, message.to_owned(), &hint);
    }

    fn report(&mut self, span: &Range<usize>, message: String, hint: &str) {
        self.found.push(Diagnostic::new(Code::CaseInvalid, message).at(self.place(span)).hint(hint));
    }

    fn place(&self, span: &Range<usize>) -> Location {
        self.document.location(span)
    }
}

/// The hint for a file that has the wrong shape as a whole.
const EXAMPLE: &str = "write `[[case]]`, then `name`, `event` and `expect`; `hookrail docs how-to/test` has examples";

/// The values of a table that are as they should be.
struct Values<'n> {
    good: BTreeMap<&'n str, &'n PlacedValue>,
    /// The keys that were written, whether their values fit or not.
    given: BTreeSet<&'n str>,
}

impl<'n> Values<'n> {
    fn get(&self, name: &str) -> Option<&'n PlacedValue> {
        self.good.get(name).copied()
    }

    fn is_given(&self, name: &str) -> bool {
        self.given.contains(name)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.text().map(str::to_owned)
    }

    fn value(&self, name: &str) -> Option<Value> {
        self.get(name).map(to_value)
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.get(name)?.flag()
    }

    fn count(&self, name: &str) -> Option<u64> {
        self.get(name)?.count()
    }

    fn texts(&self, name: &str) -> Vec<String> {
        let Some(node) = self.get(name) else { return Vec::new() };
        let texts = node.elements().unwrap_or(std::slice::from_ref(node));
        texts.iter().filter_map(PlacedValue::text).map(str::to_owned).collect()
    }

    fn members(&self, name: &str) -> impl Iterator<Item = &'n Member> + use<'n> {
        self.get(name).and_then(PlacedValue::members).unwrap_or_default().iter()
    }

    fn texts_by_name(&self, name: &str) -> BTreeMap<String, String> {
        self.members(name).filter_map(|(key, value)| Some((key.name.clone(), value.text()?.to_owned()))).collect()
    }
}

/// Returns the fields of a case's event.
pub(super) fn event_fields(case: &Case) -> EventFields {
    let json = |value: &Option<Value>| value.as_ref().and_then(|value| Json::of(value).ok());
    EventFields {
        name: case.event.clone(),
        payload: json(&case.payload).and_then(|payload| payload.as_object()),
        tool: case.tool.clone(),
        tool_input: json(&case.tool_input),
        tool_response: json(&case.tool_response),
        prompt: case.prompt.clone(),
        session_id: case.session_id.clone(),
        transcript: None,
    }
}

/// Returns a payload: a table, or the text of a JSON object.
fn payload_of(node: &PlacedValue) -> Option<Value> {
    match node.text() {
        Some(text) => serde_json::from_str(text).ok().filter(Value::is_object),
        None => node.members().map(|_| to_value(node)),
    }
}

/// What kind of value this is, for messages.
fn described(value: &PlacedValue) -> &'static str {
    if matches!(value.shape, ValueShape::Number(_)) { "a number" } else { value.described_plainly() }
}

/// The value without its place.
fn to_value(value: &PlacedValue) -> Value {
    value.to_json().to_value()
}

fn lower_first(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

fn is_word(node: &PlacedValue, words: &[&str]) -> bool {
    node.text().is_some_and(|text| words.contains(&text))
}

fn per_run<T>(node: &PlacedValue, read: impl Fn(&PlacedValue) -> Option<T>) -> PerRun<T> {
    match (node.elements(), read(node)) {
        (Some(elements), _) => PerRun::Each(elements.iter().filter_map(&read).collect()),
        (None, Some(value)) => PerRun::All(value),
        (None, None) => PerRun::Each(Vec::new()),
    }
}

fn span_of(members: &[Member], key: &str) -> Option<Range<usize>> {
    members.iter().find(|(own, _)| own.name == key).map(|(_, value)| value.span.clone())
}

/// Returns the members of a case with the defaults that it does not replace.
fn joined(defaults: &[Member], own: &[Member]) -> Vec<Member> {
    let mut all: Vec<Member> = own.to_vec();
    for (name, default) in defaults {
        match all.iter_mut().find(|(key, _)| key.name == name.name) {
            None => all.push((name.clone(), default.clone())),
            Some((key, value)) if JOINED_KEYS.contains(&key.name.as_str()) => {
                if let (ValueShape::Object(own), Some(more)) = (&mut value.shape, default.members()) {
                    let missing = more.iter().filter(|(key, _)| !own.iter().any(|(known, _)| known.name == key.name));
                    let missing: Vec<Member> = missing.cloned().collect();
                    own.extend(missing);
                }
            }
            Some(_) => {}
        }
    }
    all
}
