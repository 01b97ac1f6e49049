//! A project in which the name of the called tool selects how its hooks behave.

use std::path::Path;

use serde_json::{Value, json};

/// A behaviour of hooks. The name of the called tool is the name of the behaviour.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Habit {
    Silent,
    Answers,
    Denies,
    Rewrites,
    Fails,
    Talks,
    BadJson,
    TooMuch,
    ReadsNothing,
    KillsItself,
    Missing,
    TooSlow,
    IgnoresSigterm,
    LeavesItsSession,
    PluginAnswers,
    PluginFails,
    PluginTooSlow,
    ModuleAnswers,
    ModuleThrows,
    ModuleStarts,
    ModuleLoops,
    ModuleHoards,
}

pub(crate) const MIXTURE: &[(u64, Habit)] = &[
    (150, Habit::Silent),
    (150, Habit::Answers),
    (60, Habit::Denies),
    (60, Habit::Rewrites),
    (60, Habit::Fails),
    (60, Habit::Talks),
    (60, Habit::BadJson),
    (4, Habit::TooMuch),
    (20, Habit::ReadsNothing),
    (30, Habit::KillsItself),
    (20, Habit::Missing),
    (10, Habit::TooSlow),
    (3, Habit::IgnoresSigterm),
    (3, Habit::LeavesItsSession),
    (100, Habit::PluginAnswers),
    (40, Habit::PluginFails),
    (10, Habit::PluginTooSlow),
    (120, Habit::ModuleAnswers),
    (30, Habit::ModuleThrows),
    (8, Habit::ModuleStarts),
    (1, Habit::ModuleLoops),
    (1, Habit::ModuleHoards),
];

impl Habit {
    /// The tool whose call has this effect.
    pub(crate) fn tool(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Answers => "answers",
            Self::Denies => "denies",
            Self::Rewrites => "rewrites",
            Self::Fails => "fails",
            Self::Talks => "talks",
            Self::BadJson => "bad_json",
            Self::TooMuch => "too_much",
            Self::ReadsNothing => "reads_nothing",
            Self::KillsItself => "kills_itself",
            Self::Missing => "missing",
            Self::TooSlow => "too_slow",
            Self::IgnoresSigterm => "ignores_sigterm",
            Self::LeavesItsSession => "leaves_its_session",
            Self::PluginAnswers => "plugin_answers",
            Self::PluginFails => "plugin_fails",
            Self::PluginTooSlow => "plugin_too_slow",
            Self::ModuleAnswers => "module_answers",
            Self::ModuleThrows => "module_throws",
            Self::ModuleStarts => "module_starts",
            Self::ModuleLoops => "module_loops",
            Self::ModuleHoards => "module_hoards",
        }
    }
}

/// What hooks of settings files do, and the time they have in milliseconds.
const COMMANDS: &[(Habit, &str, u64)] = &[
    (Habit::Silent, "true", 60_000),
    (Habit::Answers, r#"echo '{"systemMessage": "hello", "reason": "fine"}'"#, 60_000),
    (Habit::Denies, "echo no >&2; exit 2", 60_000),
    (Habit::Rewrites, r#"echo '{"hookSpecificOutput": {"tool_input": {"path": "b.txt"}}}'"#, 60_000),
    (Habit::Fails, "exit 1", 60_000),
    (Habit::Talks, "wc -c >/dev/null; echo some words; echo and more >&2", 60_000),
    (Habit::BadJson, r#"echo '{"decision": '"#, 60_000),
    (Habit::TooMuch, "head -c 10000000 /dev/zero", 60_000),
    (Habit::ReadsNothing, "exec 0<&-; exit 0", 60_000),
    (Habit::KillsItself, "kill -9 $$", 60_000),
    (Habit::Missing, "/no/such/program", 60_000),
    (Habit::TooSlow, "sleep 600", 30),
    (Habit::IgnoresSigterm, "trap '' TERM; sleep 600 & wait; sleep 600", 30),
    (Habit::LeavesItsSession, "setsid sleep 600 & wait", 30),
];

const MODULE: &str = r#"
import { execFile } from "node:child_process";
export default pi => {
  pi.on("tool_call", async event => {
    switch (event.toolName) {
      case "module_answers": return { block: event.input.n % 2 === 0, reason: "x".repeat(100) };
      case "module_throws": throw new Error("thrown on purpose");
      case "module_starts": return await new Promise(done => execFile("true", [], () => done({ block: false })));
      case "module_loops": for (;;) {}
      case "module_hoards": { const all = []; for (;;) all.push(new Uint8Array(1 << 20)); }
    }
  });
};
"#;

/// Writes the project's hooks.
pub(crate) fn write(root: &Path) -> std::io::Result<()> {
    let group = |habit: &Habit, hook: Value| json!({"matcher": format!("^{}$", habit.tool()), "hooks": [hook]});
    let groups: Vec<Value> = COMMANDS
        .iter()
        .map(|(habit, command, timeout)| {
            group(habit, json!({"type": "command", "command": command, "timeout": timeout}))
        })
        .collect();
    let settings = json!({"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": groups, "AfterTool": groups}});
    save(root, ".llxprt/settings.json", &settings.to_string())?;
    let entry = |habit: Habit, command: &str, timeout: u64| json!({"matcher": format!("^{}$", habit.tool()), "command": command, "timeout": timeout});
    let entries = json!([
        entry(Habit::PluginAnswers, r#"echo '{"decision": "allow", "context": "from the plugin"}'"#, 30_000),
        entry(Habit::PluginFails, "cat >/dev/null; exit 7", 30_000),
        entry(Habit::PluginTooSlow, "sleep 600", 30),
    ]);
    let manifest =
        json!({"name": "soak", "version": "1.0.0", "hooks": {"PreToolUse": entries, "PostToolUse": entries}});
    save(root, ".x-code/plugins/soak/plugin.json", &manifest.to_string())?;
    save(root, ".xcsh/hooks/soak.js", MODULE)
}

fn save(root: &Path, name: &str, text: &str) -> std::io::Result<()> {
    let file = root.join(name);
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, text)
}
