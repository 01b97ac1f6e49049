//! Looks at the entries of an agent's settings that call the bridge.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hookrail::EventKind;
use hookrail_bridge::Agent;
use hookrail_bridge::doctor::DoctorCheck;
use hookrail_bridge::install::{AgentFile, DifferenceEffect, InstalledCall, MissingProgram};

use super::settings::{is_executable, repair};

/// Looks at the entries: whether there are any, whether they can be started, and whether one event calls twice.
pub(super) fn examine(agent: Agent, files: &[AgentFile], wanted: &BTreeSet<EventKind>) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    let mut events: BTreeMap<&str, usize> = BTreeMap::new();
    let mut programs: BTreeMap<String, Vec<&AgentFile>> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.calls.is_empty()) {
        let count = crate::text::counted(file.calls.len(), "entry").replace("entrys", "entries");
        checks.push(DoctorCheck::fine("entries", format!("{count} in `{}`", file.path.display())));
        for call in &file.calls {
            *events.entry(&call.event).or_default() += 1;
            let callers = programs.entry(call.program.clone()).or_default();
            if callers.last().is_none_or(|last| last.path != file.path) {
                callers.push(file);
            }
            checks.extend(examine_timeout(agent, call));
            checks.extend(examine_error_policy(file, call));
            checks.extend(examine_differences(agent, file, call));
        }
        checks.extend(examine_plugin(agent, file));
    }
    let install = format!("run `hookrail install {agent}`");
    if events.is_empty() {
        checks.push(DoctorCheck::error("entries", format!("{} does not call hookrail", agent.title()), install));
        return checks;
    }
    let is_registered = |kind: EventKind| agent.event_name(kind).is_none_or(|name| events.contains_key(name));
    let is_plugin = agent.plugin_template().is_some();
    // A filtered event without an entry is reported with the hook that waits for it.
    let needs_entry = |kind: EventKind| agent.fires(kind) && !agent.is_filtered(kind) && !is_registered(kind);
    for kind in wanted.iter().filter(|kind| !is_plugin && needs_entry(**kind)) {
        let text = format!("hooks wait for {kind}, and no entry of {} calls hookrail for it", agent.title());
        checks.push(DoctorCheck::warning("entries", text, format!("{install} again in this project")));
    }
    checks.extend(programs.iter().map(|(program, files)| examine_program(agent, program, files)));
    for (event, count) in events.into_iter().filter(|(_, count)| *count > 1) {
        let fix = format!("keep one of them: `hookrail uninstall {agent}`, then `hookrail install {agent}`");
        checks.push(DoctorCheck::warning("duplicates", format!("{event} calls hookrail {count} times"), fix));
    }
    checks
}

/// The shortest time for hooks that an installation writes, in milliseconds: of the shortest `--timeout`.
const SHORTEST_DEADLINE: u64 = 1600;

/// Whether hooks have time to answer, and whether the bridge answers before the agent stops waiting.
fn examine_timeout(agent: Agent, call: &InstalledCall) -> Option<DoctorCheck> {
    let at = call.arguments.iter().position(|word| word == "--deadline")?;
    let deadline = call.arguments.get(at + 1)?.parse::<u64>().ok()?;
    let fix = format!("run `hookrail install {agent}` with the `--timeout` that you want");
    let longest = agent.find_event(&call.event).and_then(|event| event.longest_wait);
    // No `--timeout` makes an agent wait for longer than it can.
    let is_limited = longest.is_some_and(|longest| longest.as_millis() < u128::from(SHORTEST_DEADLINE));
    if deadline < SHORTEST_DEADLINE && !is_limited {
        let text = format!("{}: hooks have {deadline} ms, and what they are asked about is denied then", call.event);
        return Some(DoctorCheck::warning("timeouts", text, fix));
    }
    let wait = (agent.spec().install.wait)(call.timeout)?;
    let wait = longest.map_or(wait, |longest| wait.min(longest)).as_millis();
    (u128::from(deadline) >= wait).then(|| {
        let text = format!(
            "{}: {} waits {} ms, and the bridge answers after at most {deadline} ms: a late guard is not heard",
            call.event,
            agent.title(),
            wait
        );
        DoctorCheck::error("timeouts", text, fix)
    })
}

/// Whether an entry lets operations pass when the bridge itself fails, which no installation writes.
fn examine_error_policy(file: &AgentFile, call: &InstalledCall) -> Option<DoctorCheck> {
    let words = &call.arguments;
    let is_allowed = words.windows(2).any(|pair| pair == ["--on-error", "allow"])
        || words.iter().any(|word| word == "--on-error=allow");
    is_allowed.then(|| {
        let text = format!("{} in `{}` passes when the bridge itself fails", call.event, file.path.display());
        DoctorCheck::warning("entries", text, "remove `--on-error allow` if a guard must not be passed over")
    })
}

/// Whether an entry is the one that an installation writes.
fn examine_differences(agent: Agent, file: &AgentFile, call: &InstalledCall) -> Option<DoctorCheck> {
    if call.differences.is_empty() {
        return None;
    }
    let members: Vec<String> = call.differences.iter().map(|difference| format!("`{}`", difference.member)).collect();
    let text = format!(
        "{} in `{}` is not current: {} not what `hookrail install` writes",
        call.event,
        file.path.display(),
        if members.len() == 1 { format!("{} is", members.join("")) } else { format!("{} are", members.join(", ")) },
    );
    let disarms = call.differences.iter().any(|difference| difference.effect == DifferenceEffect::Disarms);
    Some(if disarms {
        let text = format!("{text}, and {} may not ask hookrail", agent.title());
        DoctorCheck::error("entries", text, repair(agent, file))
    } else {
        DoctorCheck::warning("entries", text, repair(agent, file))
    })
}

/// Whether a generated plugin is the one that this version writes.
fn examine_plugin(agent: Agent, file: &AgentFile) -> Option<DoctorCheck> {
    let current = agent.plugin_template()?;
    let body = |text: &str| -> Vec<String> {
        let options = ["const PROGRAM = ", "const DEADLINE = ", "const OPTIONS = "];
        // Only the values of these lines are chosen by an installation.
        let named = |line: &str| options.into_iter().find(|option| line.starts_with(option));
        text.lines().map(|line| named(line).unwrap_or(line).to_owned()).collect()
    };
    (body(current) != body(&file.text)).then(|| {
        let text = format!("`{}` is not what this version writes", file.path.display());
        DoctorCheck::warning("entries", text, repair(agent, file))
    })
}

/// Whether the program that entries name is there and is this one.
fn examine_program(agent: Agent, program: &str, files: &[&AgentFile]) -> DoctorCheck {
    let repairs: Vec<String> = files.iter().map(|file| repair(agent, file)).collect();
    let is_installed = files.iter().any(|file| file.scope.is_some());
    let or_remove = format!(", or `hookrail uninstall {agent}` if it is no longer wanted");
    let again = repairs.join("; ") + if is_installed { &or_remove } else { "" };
    let is_path = program.contains('/');
    if is_path && !is_executable(Path::new(program)) {
        let effect = match effect_of_missing(agent, program, files) {
            MissingProgram::Denies => "every tool is denied",
            MissingProgram::Passes => "no guard is asked",
        };
        return DoctorCheck::error("program", format!("`{program}` is missing or not executable: {effect}"), again);
    }
    let current = std::env::current_exe().and_then(|path| path.canonicalize()).ok();
    match Path::new(program).canonicalize().ok() {
        named if is_path && named == current => DoctorCheck::fine("program", format!("the entries call `{program}`")),
        _ => DoctorCheck::warning("program", format!("the entries call `{program}`, not this program"), again),
    }
}

/// What the agent does with a tool if the program is missing. The entries for other events count only if none is for tools.
fn effect_of_missing(agent: Agent, program: &str, files: &[&AgentFile]) -> MissingProgram {
    let calls = || {
        let calls = files.iter().flat_map(|file| &file.calls);
        calls.filter(|call| call.program == program)
    };
    let tools = agent.event_name(EventKind::BeforeTool);
    let about_tools = || calls().filter(|call| Some(call.event.as_str()) == tools);
    let effects: Vec<MissingProgram> = match about_tools().next() {
        Some(_) => about_tools().map(|call| call.missing_program).collect(),
        None => calls().map(|call| call.missing_program).collect(),
    };
    if effects.contains(&MissingProgram::Denies) { MissingProgram::Denies } else { MissingProgram::Passes }
}
