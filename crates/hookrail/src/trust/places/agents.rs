//! Where agents keep what decides which hooks run, as data.

use std::path::{Path, PathBuf};

use hookrail_spawn::{Environment, UserFolders};

use crate::hook::files::command::agent_folders;

/// The folders of a project and of a home directory in which agents keep hooks. They are protected whole.
pub fn hook_folders() -> impl Iterator<Item = &'static str> {
    agent_folders().chain([".qwen", ".copilot", ".pi", ".opencode", ".factory"])
}

/// Folders inside of those in which an agent keeps plans, memories, checkouts and transcripts, and no hooks.
const WORK_FOLDERS: &[(&str, &[&str])] = &[
    (".claude", &["worktrees", "plans", "projects", "todos", "tasks", "file-history", "session-env"]),
    (".codex", &["worktrees", "memories", "sessions"]),
    (".gemini", &["tmp", "history"]),
    (".qwen", &["tmp", "todos", "projects"]),
    (".copilot", &["session-state"]),
    (".opencode", &["plans"]),
    (".factory", &["sessions", "logs"]),
];

/// Whether a folder inside of a folder of hooks holds an agent's work.
pub(super) fn is_work_folder(folder: &str, inside: &[u8]) -> bool {
    WORK_FOLDERS.iter().any(|(known, work)| *known == folder && work.iter().any(|work| inside == work.as_bytes()))
}

/// What lies in the folders above and may be a link to somewhere else, of projects and of home directories.
const OFTEN_LINKED: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".claude/plugins",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".gemini/extensions",
    ".qwen/settings.json",
    ".qwen/extensions",
    ".copilot/hooks",
    ".copilot/config.json",
    ".copilot/settings.json",
    ".pi/extensions",
    ".pi/agent/extensions",
    ".opencode/plugin",
    ".opencode/plugins",
    ".factory/settings.json",
    ".factory/hooks.json",
    ".hookrail/config.toml",
    ".hookrail/rules.toml",
];

/// Places of a project outside of the folders above.
const OF_PROJECTS: &[&str] = &[".github/hooks"];

/// Places below the folder of the user's configuration.
const OF_CONFIGURATION: &[&str] = &["hookrail", "opencode"];

/// Places of the machine.
const OF_MACHINES: &[&str] = &[
    "/etc/hookrail",
    "/etc/llxprt-code",
    "/etc/claude-code",
    "/etc/codex",
    "/etc/gemini-cli",
    "/etc/qwen-code",
    "/etc/opencode",
    "/Library/Application Support/ClaudeCode",
    "/Library/Application Support/GeminiCli",
    "/Library/Application Support/QwenCode",
    "/Library/Application Support/opencode",
];

/// Variables that name a file or folder of this kind.
const VARIABLES: &[&str] = &[
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
    "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
    "QWEN_CODE_SYSTEM_SETTINGS_PATH",
    "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
    "COPILOT_HOME",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_DIR",
    "PI_CODING_AGENT_DIR",
];

/// The places of all agents and of hookrail's own configuration.
pub(super) fn agents_places(environment: &Environment, project: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let below = |root: &Path, places: &[&str]| places.iter().map(|place| root.join(place)).collect::<Vec<_>>();
    let folder = |name: &str| environment.get(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folders = UserFolders::of(environment);
    let configuration = folders.configuration.or_else(|| home.map(|home| home.join(".config")));
    let cache = folders.cache.or_else(|| home.map(|home| home.join(".cache")));
    let mut places = below(project, OF_PROJECTS);
    places.extend(below(project, OFTEN_LINKED));
    places.extend(home.iter().flat_map(|home| below(home, OFTEN_LINKED)));
    places.extend(configuration.iter().flat_map(|folder| below(folder, OF_CONFIGURATION)));
    // From here hooks in Python load byte code.
    places.extend(cache.map(|folder| folder.join("hookrail")));
    places.extend(OF_MACHINES.iter().map(PathBuf::from));
    places.extend(VARIABLES.iter().filter_map(|name| folder(name)));
    places
}
