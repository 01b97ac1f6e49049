//! The hooks of one event in one file: groups, and the entries in them. One bad entry never takes its neighbours
//! down, and a bad entry that asked to block on failure stays as a guard that cannot be used.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::{CommandDialect, InvalidValue, OwnType, SettingsEvent, TimeoutUnit, remote};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::source::{Origin, SourceKind};
use crate::config::{Document, PlacedKey, PlacedValue, ValueShape, one_of};
use crate::dialect::columns::event_names;
use crate::dialect::{condition_key, enforcement, sandbox};
use crate::event::EventKind;
use crate::hook::condition::HookCondition;
use crate::hook::exec_options::ProcessLifetime;
use crate::hook::remote::RemoteTarget;
use crate::hook::{Action, Enforcement, GroupOrder, Hook, OnFailure};
use crate::matcher::{CompiledMatcher, OnInvalid};

/// The keys of a group.
pub(crate) const GROUP_KEYS: [&str; 3] = ["matcher", "sequential", "hooks"];
/// The keys of a hook.
pub(crate) const HOOK_KEYS: [&str; 15] = [
    "type",
    "command",
    "args",
    remote::GROUP_KEY,
    remote::RETRIES_KEY,
    "timeout",
    "name",
    "description",
    "statusMessage",
    "onFailure",
    "mode",
    condition_key::KEY,
    enforcement::KEY,
    sandbox::PROFILE_KEY,
    sandbox::REQUIRED_KEY,
];

/// Keys that earlier versions had, and what does the same.
const REMOVED_KEYS: [(&str, &str); 3] = [
    ("shell", "`args` starts a program without a shell"),
    ("stdin", "`\"mode\": \"worker\"` keeps a process, and a hook that needs no input need not read it"),
    ("prewarm", "`\"mode\": \"worker\"` keeps a process from one event to the next"),
];

/// The longest timeout: a day. No hook needs longer, and it is far from the range limit of timers.
pub(crate) const LONGEST_TIMEOUT: Duration = Duration::from_secs(86_400);

/// Reads the value of one event's key.
pub(crate) fn read_event<D: CommandDialect>(
    document: &Document,
    kind: SourceKind,
    key: &PlacedKey,
    value: &PlacedValue,
) -> (Vec<Hook>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let (event, condition) = match D::settings_event(&key.name) {
        SettingsEvent::Fired { event, condition } => (event, condition),
        SettingsEvent::NotFired => {
            let message = format!("nothing here fires `{}`; its hooks run in their own agent only", key.name);
            found.push(document.finding(Code::NotExecutable, &key.span, message));
            return (Vec::new(), found);
        }
        SettingsEvent::Setting => return (Vec::new(), found),
        SettingsEvent::Unknown => {
            let message = format!("`{}` is not an event; its hooks will not run", key.name);
            let finding = document.finding(Code::UnknownEvent, &key.span, message);
            found.push(finding.suggest(&key.name, event_names(D::DIALECT)));
            return (Vec::new(), found);
        }
    };
    let hooks = Vec::new();
    let mut reader = Reader::<D> { document, kind, event, condition, found, hooks, dialect: PhantomData };
    match value.elements() {
        Some(groups) => groups.iter().for_each(|group| reader.group(group)),
        None => {
            let message = format!("the hooks of {} must be a list of groups", key.name);
            reader.found.push(document.mismatch(Code::EventShape, value, message));
            reader.salvage(value);
        }
    }
    (reader.hooks, reader.found)
}

struct Reader<'d, D> {
    document: &'d Document,
    kind: SourceKind,
    event: EventKind,
    /// In which occurrences of the event the hooks take part, if not in all.
    condition: Option<HookCondition>,
    found: Vec<Diagnostic>,
    hooks: Vec<Hook>,
    dialect: PhantomData<D>,
}

/// The settings of a group for all its hooks.
struct Group<'n> {
    matcher: GroupMatcher<'n>,
    order: GroupOrder,
}

/// The group's matcher as it was written.
enum GroupMatcher<'n> {
    Missing,
    Text(&'n str),
    /// Not a string, so that the group's events are not known.
    Broken(String),
}

impl<D: CommandDialect> Reader<'_, D> {
    fn report(&mut self, code: Code, span: &Range<usize>, message: impl Into<String>) {
        self.found.push(self.document.finding(code, span, message));
    }

    fn event_name(&self) -> &'static str {
        self.event.spec().column(D::DIALECT).map_or("", |column| column.name)
    }

    fn group(&mut self, node: &PlacedValue) {
        let Some(members) = node.members() else {
            self.found.push(self.document.mismatch(Code::GroupShape, node, "a group of hooks must be an object"));
            return self.salvage(node);
        };
        if node.get("hooks").is_none() && node.get("command").is_some() {
            let message = "this hook stands where a group of hooks is expected";
            let hint = "wrap it: `{\"matcher\": …, \"hooks\": [{\"type\": \"command\", \"command\": …}]}`";
            self.found.push(self.document.finding(Code::GroupShape, &node.span, message).hint(hint));
            return self.salvage(node);
        }
        self.document.unknown_keys(members, D::ENTRIES.group_keys, "a group", &mut self.found);
        let Some(hooks) = node.get("hooks") else {
            let finding = self.document.finding(Code::GroupShape, &node.span, "a group needs a list `hooks`");
            self.found.push(finding.hint("write `{\"hooks\": [{\"type\": \"command\", \"command\": …}]}`"));
            return self.salvage(node);
        };
        let Some(entries) = hooks.elements() else {
            self.found.push(self.document.mismatch(Code::GroupShape, hooks, "`hooks` must be a list"));
            return self.salvage(hooks);
        };
        let group = Group { matcher: self.group_matcher(node), order: self.order(node) };
        for entry in entries {
            self.entry(&group, entry);
        }
    }

    /// Keeps the guards of something that is otherwise unusable: an entry that asked for an effect of its failure must
    /// not lose it because the structure around it is broken.
    fn salvage(&mut self, node: &PlacedValue) {
        if self.kind == SourceKind::System {
            self.unusable(node, "it does not stand in a group of hooks");
            return;
        }
        if let Some(members) = node.members() {
            if node.get("onFailure").is_some() && self.on_failure(node) != OnFailure::Allow {
                if self.enforcement(node) == Enforcement::Shadow {
                    return;
                }
                self.unusable(node, "it does not stand in a group of hooks");
                return;
            }
            members.iter().for_each(|(_, value)| self.salvage(value));
        }
        node.elements().unwrap_or_default().iter().for_each(|element| self.salvage(element));
    }

    /// Adds a guard that cannot be used, for every event of its kind.
    fn unusable(&mut self, node: &PlacedValue, why: &str) {
        let message = "this guard cannot be used, so its event ends as its `onFailure` says";
        self.report(Code::GuardUnusable, &node.span, message);
        let origin = Origin { kind: self.kind, location: self.document.location(&node.span) };
        let label = self.label(node);
        let mut hook = Hook::new(self.event, D::DIALECT, label, Action::Unusable(why.into()), origin);
        let said = self.on_failure(node);
        hook.on_failure = self.failure_of_unusable(said);
        self.hooks.push(hook);
    }

    /// The failure policy of an entry that cannot be used. In the system layer it is a guard that could not be started.
    fn failure_of_unusable(&self, said: OnFailure) -> OnFailure {
        if self.kind == SourceKind::System { OnFailure::Block } else { said }
    }

    fn group_matcher<'n>(&mut self, node: &'n PlacedValue) -> GroupMatcher<'n> {
        // Null stands for an absent value here as in every other key.
        let Some((key, matcher)) =
            node.member("matcher").filter(|(_, matcher)| !matches!(matcher.shape, ValueShape::Null))
        else {
            return GroupMatcher::Missing;
        };
        let is_nothing = match &matcher.shape {
            ValueShape::Flag(flag) => !flag,
            ValueShape::Number(number) => number.parse() == Ok(0.0),
            _ => false,
        };
        // To the original `false` and `0` are no matcher, and a guard must not vanish for one.
        if is_nothing {
            let message =
                format!("`matcher` must be a string, not {}; the group matches everything", matcher.described());
            self.report(Code::MatcherType, &matcher.span, message);
            return GroupMatcher::Missing;
        }
        let Some(text) = matcher.text() else {
            let message = format!("`matcher` must be a string, not {}; the group is left out", matcher.described());
            let finding = self.document.finding(Code::MatcherType, &matcher.span, message.clone());
            self.found.push(finding.hint("write the names in one string, as in `\"write_file|replace\"`"));
            return GroupMatcher::Broken(message);
        };
        if self.event.spec().matched_on(D::DIALECT).is_none() {
            if !matches!(text.trim(), "" | "*") {
                let message = format!("{} hooks always run; the matcher has no effect", self.event_name());
                self.report(Code::MatcherIgnored, &key.span, message);
            }
            return GroupMatcher::Missing;
        }
        let Some(problem) = self.compile(text, OnInvalid::Literal).problem else { return GroupMatcher::Text(text) };
        let message = format!("`{text}` is not a valid pattern ({problem})");
        match D::ENTRIES.invalid {
            InvalidValue::Replaced => {
                let instead = "it matches exactly this text, or everything for a hook with `onFailure`";
                self.report(Code::MatcherInvalid, &matcher.span, format!("{message}; {instead}"));
                GroupMatcher::Text(text)
            }
            InvalidValue::Ignored => {
                self.report(Code::MatcherInvalid, &matcher.span, format!("{message}; the group is ignored"));
                GroupMatcher::Broken(message)
            }
        }
    }

    fn compile(&self, pattern: &str, on_invalid: OnInvalid) -> CompiledMatcher {
        D::compile_matcher(self.event, pattern, on_invalid)
    }

    fn order(&mut self, node: &PlacedValue) -> GroupOrder {
        let Some(node) = node.get("sequential") else { return GroupOrder::Parallel };
        match node.shape {
            ValueShape::Flag(true) => return GroupOrder::Sequential,
            ValueShape::Flag(false) => {}
            _ => self.found.push(self.document.mismatch(Code::SettingType, node, "`sequential` must be true or false")),
        }
        GroupOrder::Parallel
    }

    /// Reports the keys of an entry that are not known, those of earlier versions with what does the same.
    fn unknown_keys(&mut self, members: &[(PlacedKey, PlacedValue)]) {
        let own = D::ENTRIES.hook_keys;
        let removed = || REMOVED_KEYS.iter().filter(|(key, _)| !own.contains(key));
        let known: Vec<&str> = own.iter().copied().chain(removed().map(|(key, _)| *key)).collect();
        self.document.unknown_keys(members, &known, "a hook", &mut self.found);
        for (key, _) in members {
            if let Some((name, instead)) = removed().find(|(name, _)| *name == key.name) {
                let message = format!("`{name}` is not a key of a hook any more and has no effect");
                self.found.push(self.document.finding(Code::UnknownKey, &key.span, message).hint(*instead));
            }
        }
    }

    /// How long the process lives. A value that is not one is reported, and the default is used.
    fn lifetime(&mut self, node: &PlacedValue) -> ProcessLifetime {
        let Some(value) = node.get("mode") else { return ProcessLifetime::default() };
        let written = value.text().unwrap_or_default();
        if let Some(chosen) = ProcessLifetime::ALL.into_iter().find(|lifetime| lifetime.name() == written) {
            return chosen;
        }
        let message = "`mode` must be \"once\" or \"worker\"; \"once\" applies".to_owned();
        let finding = self.document.finding(Code::SettingValue, &value.span, message);
        self.found.push(finding.suggest(written, ProcessLifetime::ALL.map(ProcessLifetime::name)));
        ProcessLifetime::default()
    }

    fn entry(&mut self, group: &Group<'_>, node: &PlacedValue) {
        let Some(members) = node.members() else {
            let message = format!("a hook must be an object, not {}", node.described());
            self.report(Code::HookShape, &node.span, message.clone());
            if self.kind == SourceKind::System {
                self.unusable(node, &message);
            }
            return;
        };
        self.unknown_keys(members);
        let enforcement = self.enforcement(node);
        let on_failure = self.on_failure(node);
        let action = self.action(node).and_then(|action| match &group.matcher {
            GroupMatcher::Broken(why) => Err(why.clone()),
            GroupMatcher::Missing | GroupMatcher::Text(_) => Ok(action),
        });
        let (action, on_failure) = match action {
            Ok(action) => (action, on_failure),
            Err(why) => match self.in_place_of_unusable(node, enforcement, on_failure, &why) {
                Some(replaced) => replaced,
                None => return,
            },
        };
        let origin = Origin { kind: self.kind, location: self.document.location(&node.span) };
        let mut hook = Hook::new(self.event, D::DIALECT, self.label(node), action, origin);
        hook.description = self.optional_text(node, "description").map(Arc::from);
        hook.status_message = self.optional_text(node, "statusMessage").map(Arc::from);
        hook.on_failure = on_failure;
        hook.enforcement = enforcement;
        hook.order = group.order;
        hook.conditions.extend(self.condition.clone());
        hook.conditions.extend(condition_key::read(self.document, node, &mut self.found));
        if matches!(hook.action, Action::Remote(_)) {
            hook.timeout = RemoteTarget::DEFAULT_TIMEOUT;
        } else {
            hook.lifetime = self.lifetime(node);
            sandbox::read_into(&mut hook, self.document, node, &mut self.found);
        }
        let values = self.timeout(node, hook.timeout).and_then(|timeout| {
            hook.timeout = timeout.unwrap_or(hook.timeout);
            D::read_own_keys(&mut hook, self.document, node, &mut self.found)
        });
        if let Err(why) = values {
            let Some((action, on_failure)) = self.in_place_of_unusable(node, enforcement, on_failure, &why) else {
                return;
            };
            (hook.action, hook.on_failure) = (action, on_failure);
        }
        if let GroupMatcher::Text(pattern) = group.matcher {
            // A guard whose pattern is invalid guards everything.
            let is_guard = hook.on_failure != OnFailure::Allow || self.kind == SourceKind::System;
            let on_invalid = if is_guard { OnInvalid::MatchAll } else { OnInvalid::Literal };
            hook.matcher = self.compile(pattern, on_invalid).matcher;
        }
        self.hooks.push(hook);
    }

    /// What stands for an entry that cannot be used; none if nothing does.
    fn in_place_of_unusable(
        &mut self,
        node: &PlacedValue,
        enforcement: Enforcement,
        on_failure: OnFailure,
        why: &str,
    ) -> Option<(Action, OnFailure)> {
        // What is not enforced guards nothing, usable or not; what is wrong with it was reported.
        if enforcement == Enforcement::Shadow {
            return None;
        }
        // A guard whose failure has an effect must never disappear silently.
        if on_failure == OnFailure::Allow && self.kind != SourceKind::System {
            return None;
        }
        let message = "this guard cannot be used, so its event ends as its `onFailure` says";
        self.report(Code::GuardUnusable, &node.span, message);
        Some((Action::Unusable(why.into()), self.failure_of_unusable(on_failure)))
    }

    /// The label: the name, else the command, or the group or the address that is asked. The list of disabled hooks uses the same text.
    fn label(&mut self, node: &PlacedValue) -> Arc<str> {
        let name = self.optional_text(node, "name").filter(|name| !name.is_empty());
        let key = match node.get("type").and_then(PlacedValue::text) {
            Some(remote::TYPE) => remote::GROUP_KEY,
            Some("http") => "url",
            _ => "command",
        };
        let runs = node.get(key).and_then(PlacedValue::text).filter(|text| !text.is_empty());
        name.as_deref().or(runs).unwrap_or("unknown-command").into()
    }

    fn optional_text(&mut self, node: &PlacedValue, key: &str) -> Option<String> {
        let value = node.get(key)?;
        let text = value.text().map(str::to_owned);
        if text.is_none() {
            self.found.push(self.document.mismatch(Code::SettingType, value, format!("`{key}` must be a string")));
        }
        text
    }

    fn enforcement(&mut self, node: &PlacedValue) -> Enforcement {
        enforcement::read(self.document, node, &mut self.found)
    }

    fn on_failure(&mut self, node: &PlacedValue) -> OnFailure {
        let Some(value) = node.get("onFailure") else {
            // A guard of the system layer that was not asked denies. Whether a remote one can be asked depends on a network,
            // so its entry may say otherwise, and only its entry.
            let is_system_guard = self.kind == SourceKind::System && remote::is_remote(node);
            return if is_system_guard { OnFailure::Block } else { OnFailure::Allow };
        };
        match value.text() {
            Some("allow") => OnFailure::Allow,
            Some("ask") => OnFailure::Ask,
            Some("block") => OnFailure::Block,
            _ => {
                // The author of this key wanted a failure to have an effect, so an invalid value is read as the
                // strictest one.
                let message = "`onFailure` must be \"allow\", \"ask\" or \"block\"; it is read as \"block\"";
                let finding = self.document.finding(Code::SettingValue, &value.span, message);
                self.found.push(finding.suggest(value.text().unwrap_or_default(), ["allow", "ask", "block"]));
                OnFailure::Block
            }
        }
    }

    fn action(&mut self, node: &PlacedValue) -> Result<Action, String> {
        let kind = node.get("type");
        let span = kind.map_or(&node.span, |kind| &kind.span);
        match kind.and_then(PlacedValue::text) {
            Some("command") => {
                self.found.extend(remote::report_keys_without_effect(self.document, node));
                if let Some(OwnType { action, found }) = D::own_type("command", self.document, node) {
                    self.found.extend(found);
                    return action;
                }
                self.command(node)
            }
            Some(remote::TYPE) if D::ENTRIES.types.contains(&remote::TYPE) => {
                let (target, findings) = remote::read(self.document, node);
                self.found.extend(findings);
                target.map(Action::Remote)
            }
            Some("plugin") if D::ENTRIES.types.contains(&"plugin") => {
                let message = "hooks of type `plugin` are listed but not executed here";
                self.report(Code::NotExecutable, span, message);
                Ok(Action::NotExecutable("hooks of type `plugin` cannot be executed here".into()))
            }
            Some(other) => {
                if let Some(OwnType { action, found }) = D::own_type(other, self.document, node) {
                    self.found.extend(found);
                    return action;
                }
                let types = D::ENTRIES.types;
                let message = format!("`type` must be {}, not \"{other}\"", one_of(types));
                let finding = self.document.finding(Code::HookType, span, &message);
                self.found.push(finding.suggest(other, types.iter().copied()));
                Err(message)
            }
            None => {
                let message = "a hook needs a `type`, which is \"command\"";
                self.found
                    .push(self.document.finding(Code::HookType, span, message).hint("add `\"type\": \"command\"`"));
                Err(message.to_owned())
            }
        }
    }

    fn command(&mut self, node: &PlacedValue) -> Result<Action, String> {
        let command = node.get("command");
        let text = match command {
            Some(command) => match command.text() {
                Some(text) if text.contains('\0') => Err("`command` contains a NUL character".to_owned()),
                Some("") => Err("`command` is empty".to_owned()),
                Some(text) => Ok(text),
                None => Err(format!("`command` must be a string, not {}", command.described())),
            },
            None => Err("a hook of type `command` needs a `command`".to_owned()),
        };
        let text = text.inspect_err(|message| {
            let span = command.map_or(&node.span, |command| &command.span);
            self.found.push(self.document.finding(Code::HookCommand, span, message.clone()));
        })?;
        let has_args =
            |args: &&PlacedValue| D::ENTRIES.hook_keys.contains(&"args") && !matches!(args.shape, ValueShape::Null);
        let args = node.get("args").filter(has_args);
        let Some(args) = args else { return Ok(Action::Shell(text.into())) };
        let words: Option<Vec<String>> =
            args.elements().and_then(|list| list.iter().map(|word| word.text().map(str::to_owned)).collect());
        match words {
            Some(words) if !words.iter().any(|word| word.contains('\0')) => {
                Ok(Action::Program(std::iter::once(text.to_owned()).chain(words).collect()))
            }
            _ => {
                let message = "`args` must be a list of strings".to_owned();
                self.report(Code::HookCommand, &args.span, message.clone());
                Err(message)
            }
        }
    }

    /// The time of an entry, if it gives one. An error says why the entry cannot be used.
    fn timeout(&mut self, node: &PlacedValue, default: Duration) -> Result<Option<Duration>, String> {
        let Some(value) = node.get("timeout") else { return Ok(None) };
        let given = match &value.shape {
            ValueShape::Number(number) => number.parse::<f64>().ok(),
            _ => None,
        };
        let TimeoutUnit { name, in_a_second } = D::TIMEOUT_UNIT;
        match given.filter(|number| number.is_finite() && *number > 0.0).map(|number| number / in_a_second) {
            Some(seconds) if seconds > LONGEST_TIMEOUT.as_secs_f64() => {
                let message = "`timeout` is longer than a day and was cut to that";
                self.report(Code::TimeoutInvalid, &value.span, message);
                Ok(Some(LONGEST_TIMEOUT))
            }
            Some(seconds) => Ok(Some(Duration::from_secs_f64(seconds.max(0.000_001)))),
            None if D::ENTRIES.invalid == InvalidValue::Ignored => {
                let message = format!("`timeout` must be a positive number of {name}; the hook is ignored");
                self.report(Code::TimeoutInvalid, &value.span, message.clone());
                Err(message)
            }
            None => {
                let default = default.as_secs_f64() * in_a_second;
                let message =
                    format!("`timeout` must be a positive number of {name}; the default of {default} applies");
                let hint = format!("write a positive number, as in `\"timeout\": {default}`");
                self.found.push(self.document.finding(Code::TimeoutInvalid, &value.span, message).hint(hint));
                Ok(None)
            }
        }
    }
}
