//! The agents that can be bridged.

use std::fmt;

/// A coding agent whose own hooks can call hookrail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
    /// GitHub Copilot CLI.
    Copilot,
    /// OpenCode, through a generated plugin.
    OpenCode,
    /// pi, through a generated extension.
    Pi,
}

impl Agent {
    /// Every agent, in the order of the documents.
    pub const ALL: [Self; 7] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Qwen, Self::Copilot, Self::OpenCode, Self::Pi];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
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

    /// The name in sentences.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex CLI",
            Self::Gemini => "Gemini CLI",
            Self::Qwen => "Qwen Code",
            Self::Copilot => "Copilot CLI",
            Self::OpenCode => "OpenCode",
            Self::Pi => "pi",
        }
    }

    /// The version whose behaviour the tables of this crate describe.
    #[must_use]
    pub const fn tested_version(self) -> &'static str {
        match self {
            Self::Claude => "2.1.325",
            Self::Codex => "0.166.0",
            Self::Gemini => "0.61.0",
            Self::Qwen => "0.24.4",
            Self::Copilot => "1.0.102",
            Self::OpenCode => "1.18.33",
            Self::Pi => "0.73.1",
        }
    }

    /// The agent with a name of the command line.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// The environment variables that show that a process was started by a tool of the agent.
    ///
    /// Those of Claude Code, Qwen Code and Copilot CLI are in the environments that were recorded of them, the others in the
    /// documents and sources of the agents.
    #[must_use]
    pub const fn tool_variables(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["CLAUDECODE"],
            Self::Codex => &["CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"],
            Self::Gemini => &["GEMINI_CLI"],
            Self::Qwen => &["QWEN_CODE", "QWEN_CODE_SESSION_ID"],
            Self::Copilot => &["COPILOT_CLI"],
            Self::OpenCode => &["OPENCODE"],
            Self::Pi => &["PI_CODING_AGENT"],
        }
    }

    /// The environment variables in which the agent declares its project directory, the most reliable first.
    ///
    /// A `cwd` in the payload follows the model's own `cd` and must not choose the project when one of these is set.
    #[must_use]
    pub const fn project_variables(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["CLAUDE_PROJECT_DIR"],
            Self::Gemini => &["GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
            Self::Qwen => &["QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
            Self::Copilot => &["COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
            Self::OpenCode | Self::Pi => &["HOOKRAIL_BRIDGE_PROJECT_DIR"],
            // Codex declares nothing; its `cwd` is the directory of the session.
            Self::Codex => &[],
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
