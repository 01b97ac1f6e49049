//! The agents: where their program is, what their settings must say, how they run without a terminal, and what they call
//! their tools.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use hookrail_testkit::model::ModelCall;
use serde_json::json;

use crate::lab::{Lab, UserFile};

/// A real coding agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LabAgent {
    Claude,
    Codex,
    Gemini,
    Qwen,
    Copilot,
    OpenCode,
    Pi,
}

impl LabAgent {
    pub(crate) const ALL: [Self; 7] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Qwen, Self::Copilot, Self::OpenCode, Self::Pi];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
            Self::Copilot => "copilot",
            Self::OpenCode => "opencode",
            Self::Pi => "pi",
        }
    }

    /// The call that writes a file. The path is absolute.
    pub(crate) fn write(self, path: &Path, content: &str) -> ModelCall {
        let text = path.to_string_lossy();
        match self {
            Self::Claude => ModelCall::new("Write", json!({"file_path": text, "content": content})),
            Self::Gemini | Self::Qwen => ModelCall::new("write_file", json!({"file_path": text, "content": content})),
            Self::Copilot => ModelCall::new("create", json!({"path": text, "file_text": content})),
            Self::OpenCode => ModelCall::new("write", json!({"filePath": text, "content": content})),
            Self::Pi => ModelCall::new("write", json!({"path": text, "content": content})),
            Self::Codex => {
                // Codex wants paths in a patch relative to its working directory.
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let patch = format!("*** Begin Patch\n*** Add File: {name}\n+{content}\n*** End Patch\n");
                ModelCall { custom: true, ..ModelCall::new("apply_patch", json!(patch)) }
            }
        }
    }

    /// The call that runs a shell command.
    pub(crate) fn shell(self, command: &str) -> ModelCall {
        match self {
            Self::Claude => ModelCall::new("Bash", json!({"command": command})),
            Self::Codex => ModelCall::new("exec_command", json!({"cmd": command})),
            Self::Gemini => ModelCall::new("run_shell_command", json!({"command": command})),
            Self::Qwen => ModelCall::new("run_shell_command", json!({"command": command, "is_background": false})),
            Self::Copilot => ModelCall::new("bash", json!({"command": command, "description": "a command"})),
            Self::OpenCode => ModelCall::new("bash", json!({"command": command, "description": "a command"})),
            Self::Pi => ModelCall::new("bash", json!({"command": command})),
        }
    }

    /// The settings that the user has before hookrail is installed: the scripted model, no telemetry, and hooks of the
    /// user's own. Their layout is not what a program would write, so that a rewritten file is noticed.
    pub(crate) fn user_files(self, port: u16) -> Vec<UserFile> {
        let url = format!("http://127.0.0.1:{port}/v1");
        let file = |path: &'static str, text: String| UserFile { path, text };
        match self {
            Self::Claude => vec![file(
                ".claude/settings.json",
                "{ \"cleanupPeriodDays\":   30,\n  \"hooks\": {\"PreToolUse\" : [\n    {\"matcher\":\"Bash\", \"hooks\":[{\"type\":\"command\",\"command\":\"true\"}]} ]}}".to_owned(),
            )],
            Self::Codex => vec![
                file(".codex/hooks.json", "{\"hooks\": {\n\t\"Stop\": []\n}}\n".to_owned()),
                file(
                    ".codex/config.toml",
                    format!(
                        "model_provider=\"scripted\"   # the test's\nmodel=\"gpt-5.5\"\ncheck_for_update_on_startup=false\n\n\
                         [analytics]\nenabled=false\n\n[model_providers.scripted]\nname=\"scripted\"\nbase_url=\"{url}\"\n\
                         wire_api=\"responses\"\nenv_key=\"SCRIPTED_KEY\"\nsupports_websockets=false\n"
                    ),
                ),
            ],
            Self::Gemini => vec![file(
                ".gemini/settings.json",
                "{ // the test's\n  \"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"}},\n  \"privacy\":{\"usageStatisticsEnabled\":false},\n  \"general\":{\"enableAutoUpdate\":false} }\n".to_owned(),
            )],
            Self::Qwen => vec![file(
                ".qwen/settings.json",
                "{ \"$version\": 4, // the test's\n  \"security\":{\"auth\":{\"selectedType\":\"openai\"}},\n  \"privacy\":{\"usageStatisticsEnabled\":false},\n  \"general\":{\"enableAutoUpdate\":false} }\n".to_owned(),
            )],
            Self::Copilot => Vec::new(),
            Self::OpenCode => vec![file(
                ".config/opencode/opencode.json",
                json!({
                    "$schema": "https://opencode.ai/config.json",
                    "provider": {"scripted": {
                        "npm": "@ai-sdk/openai-compatible",
                        "options": {"baseURL": url, "apiKey": "k"},
                        "models": {"scripted": {}},
                    }},
                    "autoupdate": false,
                    "share": "disabled",
                })
                .to_string(),
            )],
            Self::Pi => vec![file(
                ".pi/agent/models.json",
                json!({"providers": {"scripted": {
                    "baseUrl": url, "apiKey": "k", "api": "openai-completions", "models": [{"id": "scripted"}],
                }}})
                .to_string(),
            )],
        }
    }

    /// Writes those settings, and what else the agent must find in the home directory.
    pub(crate) fn write_user_files(self, lab: &Lab<'_>, port: u16) -> io::Result<()> {
        lab.write_user_files(&self.user_files(port))?;
        if self == Self::OpenCode {
            // Without this package beside its configuration it waits more than a minute for the network. It changes the
            // folder, so that a link will not do.
            lab.copy_to_home("ocplugin", ".config/opencode")?;
        }
        Ok(())
    }

    /// What must be in the agent's folder of installed programs for it to run at all.
    pub(crate) fn program(self, agents: &Path) -> PathBuf {
        let modules = agents.join(self.name()).join("node_modules");
        modules.join(match self {
            Self::Claude => "@anthropic-ai/claude-code-linux-x64/claude",
            Self::Codex => "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
            Self::Gemini => "@google/gemini-cli/bundle/gemini.js",
            Self::Qwen => "@qwen-code/qwen-code/cli-entry.js",
            Self::Copilot => ".bin/copilot",
            Self::OpenCode => "opencode-linux-x64/bin/opencode",
            Self::Pi => "@mariozechner/pi-coding-agent/dist/cli.js",
        })
    }

    /// One prompt, without a terminal and without questions.
    pub(crate) fn command(self, lab: &Lab<'_>, prompt: &str, port: u16) -> Command {
        let program = self.program(lab.agents);
        let url = format!("http://127.0.0.1:{port}");
        let mut command = match self {
            Self::Gemini | Self::Qwen | Self::Pi => {
                let mut node = lab.command("node");
                node.arg(program);
                node
            }
            Self::Claude | Self::Codex | Self::Copilot | Self::OpenCode => lab.command(&program),
        };
        match self {
            Self::Claude => command
                .args(["-p", prompt, "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits"])
                .args(["--allowedTools", "Write", "Bash"])
                .envs([("ANTHROPIC_BASE_URL", url.as_str()), ("ANTHROPIC_API_KEY", "k")])
                .envs([("DISABLE_TELEMETRY", "1"), ("DISABLE_AUTOUPDATER", "1")])
                .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            Self::Codex => command
                .args(["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json", prompt])
                .env("SCRIPTED_KEY", "k"),
            Self::Gemini => command
                .args(["-m", "gemini-2.5-pro", "-p", prompt, "-o", "stream-json", "--approval-mode", "yolo"])
                .envs([("GEMINI_CLI_TRUST_WORKSPACE", "true"), ("GEMINI_CLI_NO_RELAUNCH", "true")])
                .envs([("GOOGLE_GEMINI_BASE_URL", url.as_str()), ("GEMINI_API_KEY", "k")]),
            Self::Qwen => command
                .args(["-p", prompt, "-o", "stream-json", "--approval-mode", "yolo"])
                .envs([("OPENAI_BASE_URL", format!("{url}/v1").as_str()), ("OPENAI_API_KEY", "k")])
                .env("OPENAI_MODEL", "scripted"),
            Self::Copilot => command
                .args(["-p", prompt, "--allow-all-tools", "--output-format", "json"])
                .envs([("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1").as_str()), ("COPILOT_PROVIDER_API_KEY", "k")])
                .envs([("COPILOT_MODEL", "gpt-5"), ("COPILOT_OFFLINE", "true"), ("COPILOT_AUTO_UPDATE", "false")]),
            Self::OpenCode => command.args(["run", "--format", "json", "-m", "scripted/scripted", prompt]),
            Self::Pi => command.args(["--provider", "scripted", "--model", "scripted", "--mode", "json", "-p", prompt]),
        };
        command
    }
}
