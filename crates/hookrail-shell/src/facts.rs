//! The facts of a line, and why some are not known.

use crate::syntax::FaultKind;
use crate::syntax::Span;

/// A kind of fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactKind {
    /// Which commands run.
    Commands,
    /// Files that are read.
    Reads,
    /// Files that are written.
    Writes,
    /// Files that are deleted.
    Deletes,
    /// Code that is run.
    Executes,
    /// Hosts that are connected to.
    Network,
    /// What is done to a repository.
    Git,
}

impl FactKind {
    /// Every kind, in the order of the document.
    pub const ALL: [Self; 7] =
        [Self::Commands, Self::Reads, Self::Writes, Self::Deletes, Self::Executes, Self::Network, Self::Git];

    /// Returns the name in the document.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Commands => "commands",
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Deletes => "deletes",
            Self::Executes => "executes",
            Self::Network => "network",
            Self::Git => "git",
        }
    }
}

/// Kinds of facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FactSet(u8);

impl FactSet {
    /// Every kind.
    pub const EVERYTHING: Self = Self(0x7f);
    /// Every kind but the commands of the line: what a program does that is known by name only.
    pub const EFFECTS: Self = Self(0x7e);

    /// Returns the set of these kinds.
    #[must_use]
    pub fn of(kinds: &[FactKind]) -> Self {
        kinds.iter().fold(Self(0), |set, kind| Self(set.0 | set_bit(*kind)))
    }

    /// Whether a kind is in the set.
    #[must_use]
    pub fn contains(self, kind: FactKind) -> bool {
        self.0 & set_bit(kind) != 0
    }

    /// Returns the kinds of both sets.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a kind is in both sets.
    #[must_use]
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the kinds in the order of the document.
    pub fn kinds(self) -> impl Iterator<Item = FactKind> {
        FactKind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }
}

fn set_bit(kind: FactKind) -> u8 {
    match kind {
        FactKind::Commands => 1,
        FactKind::Reads => 2,
        FactKind::Writes => 4,
        FactKind::Deletes => 8,
        FactKind::Executes => 16,
        FactKind::Network => 32,
        FactKind::Git => 64,
    }
}

/// Why facts are not known, roughly: what a rule decides on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The line itself hides it.
    Hidden,
    /// The line cannot be read.
    Unparsable,
    /// A limit was met.
    Bound,
    /// Code of another language stands on the line.
    Inline,
    /// A script or a program decides it.
    Opaque,
    /// It happens on another machine, or below another root.
    Remote,
}

impl Class {
    /// Returns the name in the document.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hidden => "hidden",
            Self::Unparsable => "unparsable",
            Self::Bound => "bound",
            Self::Inline => "inline",
            Self::Opaque => "opaque",
            Self::Remote => "remote",
        }
    }
}

macro_rules! whys {
    ($($(#[$meta:meta])* $name:ident = $key:literal, $class:ident, $text:literal;)*) => {
        /// Why facts are not known.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Why {
            /// The line is not understood.
            Fault(FaultKind),
            $(#[doc = $text] $name,)*
        }

        impl Why {
            /// Returns the class.
            #[must_use]
            pub fn class(self) -> Class {
                match self {
                    Self::Fault(kind) if kind.is_limit() => Class::Bound,
                    Self::Fault(_) => Class::Unparsable,
                    $(Self::$name => Class::$class,)*
                }
            }

            /// Returns the reason for people.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self {
                    Self::Fault(FaultKind::Syntax) => "syntax error",
                    Self::Fault(FaultKind::Unclosed) => "a quote, a bracket or a command is not closed",
                    Self::Fault(FaultKind::OpenHereDocument) => "here-document without end",
                    Self::Fault(FaultKind::ControlCharacter) => "control characters",
                    Self::Fault(FaultKind::Disagreement) => "words and structure do not agree",
                    Self::Fault(FaultKind::TooLong) => "the line is too long",
                    Self::Fault(FaultKind::TooDeep) => "too many brackets stand in each other",
                    Self::Fault(FaultKind::TooSlow) => "the line takes too long to read",
                    $(Self::$name => $text,)*
                }
            }

            /// Returns the reason that a table names.
            #[cfg(feature = "syntax")]
            pub(crate) fn named(key: &str) -> Option<Self> {
                match key {
                    $($key => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

whys! {
    ProgramFromSubstitution = "program-from-substitution", Hidden, "the program comes from a substitution";
    ProgramFromVariable = "program-from-variable", Hidden, "the program comes from a variable that the line does not set";
    ProgramFromPattern = "program-from-pattern", Hidden, "the program comes from a pattern of file names";
    Substitution = "substitution", Hidden, "the output of a command is not known";
    UnsetVariable = "unset-variable", Hidden, "the value of a variable that the line does not set is not known";
    ReadVariable = "read-variable", Hidden, "the value is read at run time";
    Arithmetic = "arithmetic", Hidden, "the value is computed at run time";
    UserHome = "user-home", Hidden, "the home folder of another user is not known";
    OperandsFromInput = "operands-from-input", Hidden, "operands come from standard input";
    UnknownFolder = "unknown-folder", Hidden, "the folder is not known";
    UnknownHost = "unknown-host", Hidden, "the host is not known";
    CodeFromValue = "code-from-value", Hidden, "code comes from a value that is not known";
    TransformedCode = "transformed-code", Hidden, "code on standard input was made by another command";
    EvaluatedTwice = "evaluated-twice", Hidden, "text with a substitution is evaluated a second time";
    DownloadedCode = "downloaded-code", Opaque, "downloaded code";
    InteractiveShell = "interactive-shell", Opaque, "a shell that reads what is typed";
    ScriptFile = "script-file", Opaque, "a script decides";
    NoTable = "no-table", Opaque, "the program is in no table";
    Subcommand = "subcommand", Opaque, "the subcommand is in no table";
    Build = "build", Opaque, "a build file decides";
    PackageScript = "package-script", Opaque, "scripts of packages run";
    ProjectCode = "project-code", Opaque, "code of the project runs";
    Editor = "editor", Opaque, "an editor decides";
    RunsLater = "runs-later", Opaque, "it runs later";
    RepositoryAlias = "repository-alias", Opaque, "the subcommand may be an alias of the repository";
    RepositoryHook = "repository-hook", Opaque, "hooks of the repository may run";
    VariableRunsCode = "variable-runs-code", Opaque, "a variable makes any program run code";
    SettingRunsCode = "setting-runs-code", Opaque, "a setting runs a program";
    SessionAlias = "session-alias", Opaque, "an alias is not followed";
    OptionsFile = "options-file", Opaque, "options stand in a file";
    Service = "service", Opaque, "a service decides";
    Archive = "archive", Opaque, "an archive decides";
    Container = "container", Opaque, "a container runs";
    OtherRoot = "other-root", Remote, "it runs below another root";
    OtherMachine = "other-machine", Remote, "it runs on another machine";
    InlineCode = "inline-code", Inline, "code of another language";
    TooManyCommands = "too-many-commands", Bound, "there are too many commands";
    TooManyWords = "too-many-words", Bound, "there are too many words";
    TooManyStates = "too-many-states", Bound, "there are too many states to follow";
    TooManyVariables = "too-many-variables", Bound, "there are too many variables";
    TooManyFiles = "too-many-files", Bound, "the line makes too many files and links";
    CodeTooDeep = "code-too-deep", Bound, "code stands in code too often";
    FormNotKnown = "form-not-known", Bound, "the line is complete, and its form is not known here";
}

/// Facts of these kinds are a lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Why.
    pub why: Why,
    /// Which facts.
    pub facts: FactSet,
    /// The words that are not understood.
    pub span: Span,
}

/// A command that may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFact {
    /// The name of the program without its folder; `?` where it is not known.
    pub program: String,
    /// The subcommand, for programs that have some.
    pub subcommand: Option<String>,
    /// The arguments; `?` where a part is not known.
    pub args: Vec<String>,
    /// The programs and functions that run it, the outermost first.
    pub via: Vec<String>,
    /// The text that is fed to it, where the line says it; `?` where a part is not known.
    pub fed: Option<String>,
    /// Where it stands.
    pub span: Span,
}

/// Something that a command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact<T> {
    /// What to.
    pub what: T,
    /// The words that it comes from.
    pub span: Span,
    /// The index of the command.
    pub command: Option<usize>,
}

/// A path that is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathUse {
    /// The path: absolute, without `.` and `..`. It may be a pattern, and `?` stands for what is not known.
    pub path: String,
    /// Whether a part of the path is not known.
    pub is_partly_unknown: bool,
    /// Whether a path with `**` includes files that begin with a dot or that a repository ignores.
    pub covers_hidden: bool,
}

/// Code that is run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Executed {
    /// A file.
    Path(String),
    /// Standard input.
    Input,
    /// Code of a language on the line.
    Inline(String),
    /// A task of a program, such as `make:all`: its kind and its name.
    Task(String, String),
}

impl Executed {
    /// Returns the text in the document.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Path(path) => path.clone(),
            Self::Input => "stdin".to_owned(),
            Self::Inline(language) => format!("inline:{language}"),
            Self::Task(kind, name) => format!("{kind}:{name}"),
        }
    }
}

/// A host that is connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkHost {
    /// A host by name.
    Name(String),
    /// A registry of packages.
    Registry(String),
    /// A remote of the repository, whose host the line does not name.
    Remote(String),
    /// A host that is not known.
    Unknown,
}

impl NetworkHost {
    /// Returns the text in the document.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Name(name) => name.clone(),
            Self::Registry(name) => format!("registry:{name}"),
            Self::Remote(name) => format!("remote:{name}"),
            Self::Unknown => "?".to_owned(),
        }
    }
}

macro_rules! git_facts {
    ($($name:ident = $key:literal, $text:literal;)*) => {
        /// What a git command does to a repository.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum GitFact {
            $(#[doc = $text] $name,)*
        }

        impl GitFact {
            /// Every fact.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the name in the document.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $key,)*
                }
            }

            #[cfg(feature = "syntax")]
            pub(crate) fn named(key: &str) -> Option<Self> {
                match key {
                    $($key => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

git_facts! {
    Push = "push", "It sends commits to a remote.";
    PushForce = "push_force", "It replaces what a remote has.";
    PushDelete = "push_delete", "It deletes a branch or a tag of a remote.";
    Commit = "commit", "It makes a commit.";
    Add = "add", "It adds files to the index.";
    Discard = "discard", "It overwrites changes that are in no commit.";
    Clean = "clean", "It deletes files that are not tracked.";
    Rewrite = "rewrite", "It changes what a branch points to, other than by a new commit.";
    BranchDelete = "branch_delete", "It deletes a branch.";
    TagDelete = "tag_delete", "It deletes a tag.";
    Stash = "stash", "It puts changes aside.";
    StashDrop = "stash_drop", "It deletes changes that were put aside.";
    ConfigWrite = "config_write", "It changes settings.";
    NoVerify = "no_verify", "It skips hooks.";
    Alias = "alias", "It runs an alias.";
    GcPrune = "gc_prune", "It deletes objects or the log of references.";
    RemoteChange = "remote_change", "It changes the remotes.";
}

/// How something flows from one command to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FlowKind {
    /// What came from the network is run.
    NetToExec,
    /// A secret goes to the network.
    SecretToNet,
}

impl FlowKind {
    /// Returns the name in the document.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NetToExec => "net>exec",
            Self::SecretToNet => "secret>net",
        }
    }
}

/// A flow and where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// What flows where.
    pub kind: FlowKind,
    /// The command at its end.
    pub span: Span,
}

/// What a line may do: every branch is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// The commands that may run.
    pub commands: Vec<CommandFact>,
    /// Files whose contents are read.
    pub reads: Vec<Fact<PathUse>>,
    /// Files and folders that are made or changed.
    pub writes: Vec<Fact<PathUse>>,
    /// Names that are removed, with everything below.
    pub deletes: Vec<Fact<PathUse>>,
    /// Code that is run.
    pub executes: Vec<Fact<Executed>>,
    /// Hosts that are connected to.
    pub network: Vec<Fact<NetworkHost>>,
    /// What is done to repositories.
    pub git: Vec<Fact<GitFact>>,
    /// What flows from one command to another.
    pub flow: Vec<Flow>,
    /// Where all variables are printed.
    pub env_dump: Option<Span>,
    /// Which facts are a lower bound, and why.
    pub unknown: Vec<Unknown>,
}
