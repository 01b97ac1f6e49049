//! A less authoritative layer only adds restrictions: whatever stack of layers there is, putting one more below it never
//! lifts a deny, an ask or a stop, never widens the system's tool list, never undoes its rewrite, and never disables,
//! shortens, weakens or shadows a hook of a layer above.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::common::{drive, ended, exited, hook, json, module_end, module_hook, plugin_hook, stdin, tool_call};
use hookrail::hook::GroupOrder;
use hookrail::plan::Firing;
use hookrail::process::{RawEnd, RunEnd};
use hookrail::sources::SourceKind;
use hookrail::{Decision, Effects, Environment, Event, EventKind, Hook, HookSystem, OnFailure, Outcome};
use proptest::prelude::*;
use serde_json::{Value, json as value};

/// A hook and how it ends.
#[derive(Clone, Debug)]
struct Scripted {
    layer: Layer,
    order: GroupOrder,
    end: RunEnd,
}

/// Where a hook comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    Settings(SourceKind),
    Plugin,
    /// A plugin that lies in the project.
    ProjectPlugin,
    Module,
}

const SYSTEM: Layer = Layer::Settings(SourceKind::System);

fn lesser() -> impl Strategy<Value = Layer> {
    prop_oneof![
        Just(Layer::Settings(SourceKind::User)),
        Just(Layer::Settings(SourceKind::Project)),
        Just(Layer::Settings(SourceKind::Extension)),
        Just(Layer::Plugin),
        Just(Layer::ProjectPlugin),
        Just(Layer::Module),
    ]
}

/// Where the hooks of a project come from that can change what is asked about.
fn of_project() -> impl Strategy<Value = Layer> {
    prop_oneof![Just(Layer::Settings(SourceKind::Project)), Just(Layer::ProjectPlugin)]
}

/// Where a guard of the user comes from.
fn of_user() -> impl Strategy<Value = Layer> {
    prop_oneof![
        Just(Layer::Settings(SourceKind::User)),
        Just(Layer::Settings(SourceKind::Extension)),
        Just(Layer::Plugin),
        Just(Layer::Module),
    ]
}

fn any_layer() -> impl Strategy<Value = Layer> {
    prop_oneof![2 => Just(SYSTEM), 3 => lesser()]
}

fn decision() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![value!(null), value!("allow"), value!("ask"), value!("deny"), value!("block")])
}

/// What a hook says, in the words of every dialect at once: each reads its own.
fn ends() -> impl Strategy<Value = RunEnd> {
    let input = prop::option::of(prop::collection::btree_map("[a-c]", 0..3, 1..3));
    let list = prop::option::of(prop::collection::vec("[a-d]", 0..3));
    let spoken = (decision(), input, list, any::<bool>()).prop_map(|(decision, input, list, stops)| {
        let mut answer = value!({"decision": decision, "reason": "r", "continue": !stops, "hookSpecificOutput": {}});
        if let Some(input) = input {
            answer["hookSpecificOutput"]["tool_input"] = value!(input);
        }
        if let Some(list) = list {
            answer["hookSpecificOutput"]["toolConfig"] = value!({"mode": "ANY", "allowedFunctionNames": list});
        }
        exited(0, &answer.to_string(), "")
    });
    prop_oneof![
        6 => spoken,
        1 => Just(exited(0, "", "")),
        1 => Just(exited(1, "", "oops")),
        1 => Just(exited(2, "", "no")),
        1 => Just(ended(RawEnd::TimedOut(std::time::Duration::from_millis(1)))),
    ]
}

fn orders() -> impl Strategy<Value = GroupOrder> {
    prop_oneof![3 => Just(GroupOrder::Parallel), 1 => Just(GroupOrder::Sequential)]
}

fn stack(layer: impl Strategy<Value = Layer>, most: usize) -> impl Strategy<Value = Vec<Scripted>> {
    let scripted = (layer, orders(), ends()).prop_map(|(layer, order, end)| Scripted { layer, order, end });
    prop::collection::vec(scripted, 0..=most)
}

/// The hooks in the order in which layers are planned: project, user, system, extensions, plugins, modules.
fn hooks(kind: EventKind, stack: &[Scripted]) -> Vec<Hook> {
    let rank = |layer: Layer| match layer {
        Layer::Settings(SourceKind::Project) => 0,
        Layer::Settings(SourceKind::User) => 1,
        Layer::Settings(SourceKind::System) => 2,
        Layer::Settings(_) => 3,
        Layer::Plugin | Layer::ProjectPlugin => 4,
        Layer::Module => 5,
    };
    let mut numbered: Vec<(usize, &Scripted)> = stack.iter().enumerate().collect();
    numbered.sort_by_key(|(_, scripted)| rank(scripted.layer));
    let made = numbered.into_iter().filter_map(|(at, scripted)| {
        let name = at.to_string();
        let mut made = match scripted.layer {
            Layer::Settings(kind_of_layer) => hook(kind, &name, kind_of_layer),
            Layer::Plugin => plugin_hook(kind, &name),
            Layer::ProjectPlugin => {
                let mut made = plugin_hook(kind, &name);
                made.origin.kind = SourceKind::Project;
                made
            }
            Layer::Module => module_hook(kind, &name),
        };
        made.order = scripted.order;
        kind.spec().column(made.dialect).is_some().then_some(made)
    });
    made.collect()
}

/// The end of a hook. A module answers with a value, a process with text.
fn end_of(stack: &[Scripted], label: &str) -> RunEnd {
    let scripted = &stack[label.parse::<usize>().unwrap()];
    match (scripted.layer, scripted.end.how()) {
        (Layer::Module, RawEnd::Exited(0)) => {
            let said = scripted.end.stdout().lossy();
            let blocks = said.contains("deny") || said.contains("block");
            let answer = if blocks { r#"{"block":true,"reason":"r"}"# } else { "{}" };
            module_end(RawEnd::Returned(Some(json(answer))))
        }
        (Layer::Module, _) => module_end(RawEnd::Threw("no".to_owned())),
        (Layer::Plugin | Layer::ProjectPlugin, RawEnd::Exited(0)) => {
            let said: Value = serde_json::from_str(&scripted.end.stdout().lossy()).unwrap_or_default();
            let input = &said["hookSpecificOutput"]["tool_input"];
            let modifies = input.is_object() && !matches!(said["decision"].as_str(), Some("deny" | "block"));
            let answer = value!({"decision": "modify", "args": input}).to_string();
            if modifies { exited(0, &answer, "") } else { scripted.end.clone() }
        }
        _ => scripted.end.clone(),
    }
}

fn event(kind: EventKind) -> Event {
    tool_call(r#"{"kept":1,"a":9}"#)
        .fields()
        .iter()
        .fold(Event::new(kind, "/p").at_time("t"), |event, (name, value)| event.with(name, value.clone()))
        .with("llm_request", json(r#"{"messages":[{"role":"user","content":"u"}]}"#))
        .with_text("prompt", "p")
}

fn fire(kind: EventKind, stack: &[Scripted]) -> Outcome {
    drive(hooks(kind, stack), event(kind), |request| end_of(stack, &request.hook.label))
}

fn rank(decision: Option<Decision>) -> u8 {
    match decision {
        Some(Decision::Deny) => 2,
        Some(Decision::Ask) => 1,
        _ => 0,
    }
}

/// Whether command hooks of settings files run one after the other.
fn is_chain(stack: &[Scripted]) -> bool {
    stack.iter().any(|one| matches!(one.layer, Layer::Settings(_)) && one.order == GroupOrder::Sequential)
}

/// What was restricted before is restricted after. A denied operation does not happen, so nothing is left to restrict.
///
/// Two rewrites of the system that contradict each other side by side deny the operation although no hook denied it; one
/// after the other both stand. So making the event a chain takes such a deny away.
fn at_least_as_strict(
    base: &[Scripted],
    before: &Outcome,
    all: &[Scripted],
    after: &Outcome,
) -> Result<(), TestCaseError> {
    let was_said = before.runs.iter().any(|run| run.decision == Some(Decision::Deny));
    let contradiction = before.is_denied() && !was_said && !is_chain(base) && is_chain(all);
    if after.is_denied() || contradiction {
        return Ok(());
    }
    let (before, after) = (&before.effects, &after.effects);
    prop_assert!(rank(after.decision) >= rank(before.decision), "{:?} became {:?}", before.decision, after.decision);
    prop_assert!(before.stop.is_none() || after.stop.is_some(), "a stop was lifted");
    Ok(())
}

/// The names that a tool list leaves; nothing when there is no list.
fn allowed(effects: &Effects) -> Option<Vec<String>> {
    let config = effects.tool_config.as_ref()?.to_value();
    let names = config.get("allowedFunctionNames")?.as_array()?.clone();
    Some(names.iter().map(|name| name.as_str().unwrap().to_owned()).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn nothing_below_lifts_what_was_said_about_a_tool(base in stack(any_layer(), 4), below in stack(lesser(), 3)) {
        let all = [base.clone(), below].concat();
        let (before, after) = (fire(EventKind::BeforeTool, &base), fire(EventKind::BeforeTool, &all));
        at_least_as_strict(&base, &before, &all, &after)?;
    }

    #[test]
    fn nothing_lifts_what_the_system_said_about_anything(
        kind in prop::sample::select(vec![EventKind::BeforeTool, EventKind::Prompt, EventKind::BeforeModel]),
        base in stack(Just(SYSTEM), 3),
        below in stack(lesser(), 3),
    ) {
        let all = [base.clone(), below].concat();
        at_least_as_strict(&base, &fire(kind, &base), &all, &fire(kind, &all))?;
    }

    /// Of two hooks with one command only one runs. It stands where the first stood, with the weight of the other.
    #[test]
    fn repeating_a_systems_hook_takes_nothing_away(
        kind in prop::sample::select(vec![EventKind::BeforeTool, EventKind::Prompt, EventKind::BeforeModel]),
        base in stack(Just(SYSTEM), 3),
        below in stack(lesser(), 3),
        layer in prop::sample::select(vec![SourceKind::User, SourceKind::Project, SourceKind::Extension]),
    ) {
        let all = [base.clone(), below].concat();
        let mut repeated: Vec<Hook> = (0..base.len()).map(|at| hook(kind, &at.to_string(), layer)).collect();
        let others = hooks(kind, &all);
        if layer == SourceKind::Extension {
            repeated.splice(0..0, others);
        } else {
            repeated.extend(others);
        }
        let after = drive(repeated, event(kind), |request| end_of(&all, &request.hook.label));
        at_least_as_strict(&base, &fire(kind, &base), &all, &after)?;
    }

    #[test]
    fn nothing_widens_the_systems_tool_list(base in stack(Just(SYSTEM), 2), below in stack(lesser(), 3)) {
        let all = [base.clone(), below].concat();
        let (before, after) = (fire(EventKind::ToolSelection, &base), fire(EventKind::ToolSelection, &all));
        if let Some(list) = allowed(&before.effects) {
            let wider = allowed(&after.effects);
            prop_assert!(wider.as_ref().is_some_and(|names| names.iter().all(|name| list.contains(name))), "{:?} became {:?}", list, wider);
        }
    }

    /// A guard of the system that looks at the input, and denies or repairs it, has seen the one that the tool is called
    /// with.
    #[test]
    fn no_input_is_used_that_the_system_did_not_accept(
        stack in stack(any_layer(), 5),
        order in orders(),
        repairs in any::<bool>(),
    ) {
        let refuses = |input: &Value| input["a"] == 1;
        let guard = Scripted { layer: SYSTEM, order, end: exited(0, "", "") };
        let place = stack.len().to_string();
        let all = [stack, vec![guard]].concat();
        let outcome = drive(hooks(EventKind::BeforeTool, &all), event(EventKind::BeforeTool), |request| {
            let mut input = stdin(request)["tool_input"].take();
            if *request.hook.label != place || !refuses(&input) {
                return end_of(&all, &request.hook.label);
            }
            input["a"] = value!(0);
            let repaired = value!({"hookSpecificOutput": {"tool_input": input}}).to_string();
            if repairs { exited(0, &repaired, "") } else { exited(2, "", "not this") }
        });
        let input = outcome.effects.tool_input.as_ref().map(hookrail::Json::to_value);
        prop_assert!(outcome.is_denied() || !input.as_ref().is_some_and(refuses), "{:?}", input);
    }

    /// The same for a guard of the user, whatever a project brings and of whichever dialect the guard is.
    #[test]
    fn no_input_of_a_project_is_used_that_a_guard_of_the_user_did_not_accept(
        stack in stack(of_project(), 5),
        layer in of_user(),
        order in orders(),
        repairs in any::<bool>(),
    ) {
        let refuses = |input: &Value| input["a"] == 1;
        let place = stack.len().to_string();
        let all = [stack, vec![Scripted { layer, order, end: exited(0, "", "") }]].concat();
        let mut made = hooks(EventKind::BeforeTool, &all);
        made.iter_mut().filter(|hook| *hook.label == place).for_each(|hook| hook.on_failure = OnFailure::Block);
        let outcome = drive(made, event(EventKind::BeforeTool), |request| {
            if *request.hook.label != place {
                return end_of(&all, &request.hook.label);
            }
            let mut input = request.event.field("tool_input").unwrap().to_value();
            let refused = refuses(&input);
            input["a"] = value!(0);
            let answer = match layer {
                Layer::Module => {
                    let answer = if refused { r#"{"block":true}"# } else { "{}" };
                    return module_end(RawEnd::Returned(Some(json(answer))));
                }
                _ if !refused => value!({"decision": "allow"}),
                Layer::Plugin if repairs => value!({"decision": "modify", "args": input}),
                _ if repairs => value!({"hookSpecificOutput": {"tool_input": input}}),
                _ => value!({"decision": "deny"}),
            };
            exited(0, &answer.to_string(), "")
        });
        let input = outcome.effects.tool_input.as_ref().map(hookrail::Json::to_value);
        prop_assert!(outcome.is_denied() || !input.as_ref().is_some_and(refuses), "{:?}", input);
    }

    /// The same for a prompt, to which other hooks add context.
    #[test]
    fn no_prompt_is_used_that_the_system_did_not_accept(
        added in prop::collection::vec((lesser(), orders(), prop::option::of("[xy]")), 1..4),
        order in orders(),
    ) {
        let mut all: Vec<Scripted> = Vec::new();
        for (layer, order, context) in added {
            let answer = value!({"decision": "allow", "context": context, "hookSpecificOutput": {"additionalContext": context}});
            all.push(Scripted { layer, order, end: exited(0, &answer.to_string(), "") });
        }
        let place = all.len().to_string();
        all.push(Scripted { layer: SYSTEM, order, end: exited(0, "", "") });
        let outcome = drive(hooks(EventKind::Prompt, &all), event(EventKind::Prompt), |request| {
            let refuses = stdin(request)["prompt"].as_str().is_some_and(|prompt| prompt.contains('x'));
            let is_guard = *request.hook.label == place;
            if is_guard && refuses { exited(2, "", "not this") } else { end_of(&all, &request.hook.label) }
        });
        let used = outcome.effects.prompt.unwrap_or_default();
        prop_assert!(outcome.effects.decision == Some(Decision::Deny) || !used.contains('x'), "{}", used);
    }

    /// A rewrite of the system comes last, so it needs no deny to have its way. That is so for what no other hook wrote before
    /// it: a rewrite to what is there already is none, and is demanded when others take it away.
    #[test]
    fn a_single_rewrite_of_the_system_denies_nothing(order in orders(), below in stack(lesser(), 3)) {
        let own = exited(0, r#"{"hookSpecificOutput":{"tool_input":{"only the system":1}}}"#, "");
        let all = [vec![Scripted { layer: SYSTEM, order, end: own }], below].concat();
        let outcome = fire(EventKind::BeforeTool, &all);
        let was_said = outcome.runs.iter().any(|run| run.decision == Some(Decision::Deny));
        prop_assert_eq!(outcome.is_denied(), was_said, "{:?}", outcome.effects);
    }

    #[test]
    fn nothing_undoes_the_systems_rewrite(base in stack(Just(SYSTEM), 2), below in stack(lesser(), 3)) {
        let all = [base.clone(), below].concat();
        let (before, after) = (fire(EventKind::BeforeTool, &base), fire(EventKind::BeforeTool, &all));
        let input = |outcome: &Outcome| outcome.effects.tool_input.as_ref().map(hookrail::Json::to_value);
        let Some(Value::Object(rewritten)) = input(&before) else { return Ok(()) };
        if after.effects.decision == Some(Decision::Deny) {
            return Ok(());
        }
        let now = input(&after).unwrap_or_else(|| value!({"kept": 1, "a": 9}));
        for (key, was) in rewritten.iter().filter(|(key, was)| **was != value!({"kept": 1, "a": 9})[key.as_str()]) {
            prop_assert_eq!(now.get(key), Some(was), "`{}` of {}", key, now);
        }
    }
}

/// One layer's settings file.
#[derive(Clone, Debug)]
struct File {
    switch: Option<bool>,
    disabled: Vec<String>,
    hooks: Vec<(String, u32, &'static str)>,
}

fn files() -> impl Strategy<Value = File> {
    let command = "[a-c]";
    let entry = (command, 1..5_u32, prop::sample::select(vec!["allow", "ask", "block"]));
    (any::<Option<bool>>(), prop::collection::vec(command, 0..2), prop::collection::vec(entry, 0..4))
        .prop_map(|(switch, disabled, hooks)| File { switch, disabled, hooks })
}

fn write(path: &Path, file: &File) {
    let hooks: Vec<Value> = file
        .hooks
        .iter()
        .map(|(command, seconds, policy)| {
            value!({"type": "command", "command": command, "timeout": seconds * 1000, "onFailure": policy})
        })
        .collect();
    let mut settings =
        value!({"hooks": {"BeforeTool": [{"hooks": hooks}]}, "hooksConfig": {"disabled": file.disabled}});
    if let Some(switch) = file.switch {
        settings["hooksConfig"]["enabled"] = value!(switch);
    }
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, settings.to_string()).unwrap();
}

/// The commands that would run, with the time, the policy and the weight each would have.
type Planned = BTreeMap<String, (std::time::Duration, hookrail::OnFailure, hookrail::hook::Authority)>;

/// What a stack of files comes to: the system's, then the user's, then the project's, then an extension's.
fn plan(files: &[&File]) -> Planned {
    let dir = tempfile::tempdir().unwrap();
    let places = ["system.json", "home/.llxprt/settings.json", "project/.llxprt/settings.json"];
    std::fs::create_dir_all(dir.path().join("project")).unwrap();
    for (place, file) in places.iter().zip(files) {
        write(&dir.path().join(place), file);
    }
    if let Some(extension) = files.get(3) {
        // An extension has no switch and no list; it brings hooks only.
        let folder = dir.path().join("home/.llxprt/extensions/e");
        write(&folder.join("hooks/hooks.json"), extension);
        std::fs::write(folder.join("llxprt-extension.json"), r#"{"name":"e","version":"1.0.0"}"#).unwrap();
    }
    let environment: Environment = [
        ("HOME".to_owned(), dir.path().join("home").into_os_string()),
        ("LLXPRT_SYSTEM_SETTINGS_PATH".to_owned(), dir.path().join("system.json").into_os_string()),
    ]
    .into_iter()
    .collect();
    let system = HookSystem::builder(dir.path().join("project")).environment(environment).trust_project().build();
    let firing = Firing::new(Arc::clone(&system.snapshot()), tool_call("{}"));
    let hooks = firing.plan().hooks();
    hooks.map(|(_, hook)| (hook.hook.label.to_string(), (hook.timeout, hook.on_failure, hook.authority))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn a_file_below_never_disables_shortens_or_weakens_a_hook_above(files in prop::collection::vec(files(), 2..=4)) {
        let files: Vec<&File> = files.iter().collect();
        for above in 1..files.len() {
            let (without, with) = (plan(&files[..above]), plan(&files[..=above]));
            for (command, (timeout, on_failure, authority)) in without {
                let now = with.get(&command);
                prop_assert!(
                    now.is_some_and(|now| now.0 >= timeout && now.1 >= on_failure && now.2 >= authority),
                    "`{}` of {:?} became {:?} with {:?}", command, (timeout, on_failure, authority), now, files[above]
                );
            }
        }
    }
}
