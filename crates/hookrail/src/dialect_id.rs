//! The list of dialects, and the only one: everything that goes through all dialects is made from it.
//!
//! Nothing of the engine is used here, so that every part of it can name a dialect.

use std::fmt;

/// Calls a macro with every dialect, in the order in which they take part in an event. A line has the variant of
/// [`DialectId`], the name, what its hooks are, the folder, which holds a type of the variant's name that implements
/// `Dialect` and `Protocol` of `dialect::contract`, and the names of the folders in which agents keep its hooks, in
/// a project and in the home directory. `configured` dialects are written in files; those of the `host` are not. The
/// `first` are no hooks of an agent: they are asked before all others. A dialect that is read only `if enabled` is the own one of
/// an agent, which runs its hooks itself.
macro_rules! with_dialects {
    ($callback:ident) => {
        $callback! {
            first {
                /// Guards without a program, which decide on what a call does.
                Rules "rules", "conditions over what a tool call does", in rules keeping [];
            }
            configured {
                /// Command hooks in settings files.
                Llxprt "llxprt", "command hooks in settings files", in llxprt keeping [".llxprt"];
                /// Command hooks in settings and extensions of Gemini CLI.
                Gemini "gemini", "hooks of Gemini CLI", in gemini keeping [".gemini"] if enabled;
                /// Command hooks in settings and plugins of Claude Code.
                Claude "claude", "hooks of Claude Code", in claude keeping [".claude"] if enabled;
                /// Command hooks in settings of Codex CLI.
                Codex "codex", "hooks of Codex CLI", in codex keeping [".codex"] if enabled;
                /// Command hooks of plugins.
                Xcode "xcode", "command hooks of plugins", in xcode keeping [".x-code"];
                /// Hooks that are JavaScript or TypeScript modules.
                Xcsh "xcsh", "JavaScript and TypeScript modules", in xcsh keeping [".xcsh"];
                /// The smallest complete dialect, for the tests.
                #[cfg(test)]
                TestDialect "test-dialect", "one-line hooks of the tests", in test_dialect keeping [];
            }
            host {
                /// Closures of the embedding program.
                Native "native", "closures of the embedding program", in native keeping [];
            }
        }
    };
}

pub(crate) use with_dialects;

macro_rules! identities {
    (
        first { $(
            $(#[doc = $first_doc:literal])+
            $first:ident $first_name:literal, $first_title:literal, in $first_folder:ident keeping [];
        )+ }
        configured { $(
            $(#[doc = $doc:literal])+ $(#[cfg($($when:tt)*)])?
            $dialect:ident $name:literal, $title:literal, in $folder:ident keeping [$($kept:literal),*] $(if $off:ident)?;
        )+ }
        host { $(
            $(#[doc = $host_doc:literal])+
            $host:ident $host_name:literal, $host_title:literal, in $host_folder:ident keeping [];
        )+ }
    ) => {
        /// A family of hooks.
        ///
        /// ```
        /// use hookrail::DialectId;
        ///
        /// assert_eq!(DialectId::from_name("llxprt"), Some(DialectId::Llxprt));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum DialectId {
            $($(#[doc = $first_doc])+ $first,)+
            $($(#[doc = $doc])+ $(#[cfg($($when)*)])? $dialect,)+
            $($(#[doc = $host_doc])+ $host,)+
        }

        impl DialectId {
            /// The dialects that are written in files, in the order in which they take part in an event.
            pub const CONFIGURED: [Self; [$($(#[cfg($($when)*)])? Self::$dialect),+].len()] =
                [$($(#[cfg($($when)*)])? Self::$dialect),+];

            /// The order in which dialects take part in an event.
            pub const ORDER: [Self; [$(Self::$first),+].len() + Self::CONFIGURED.len() + [$(Self::$host),+].len()] =
                [$(Self::$first,)+ $($(#[cfg($($when)*)])? Self::$dialect,)+ $(Self::$host),+];

            /// The folders of a project and of a home directory in which dialects keep what belongs to their hooks.
            pub(crate) const FOLDERS: &[&str] = &[$($($kept,)*)+];

            /// Whether its hooks are read only where it was enabled: the agent that it belongs to runs them itself.
            #[must_use]
            pub const fn needs_enabling(self) -> bool {
                match self {
                    $(Self::$first => false,)+
                    $($(#[cfg($($when)*)])? Self::$dialect => identities!(@if $($off)?),)+
                    $(Self::$host => false,)+
                }
            }

            /// The name used in JSON, on the command line and in messages.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$first => $first_name,)+
                    $($(#[cfg($($when)*)])? Self::$dialect => $name,)+
                    $(Self::$host => $host_name,)+
                }
            }

            /// What its hooks are, as text for users.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$first => $first_title,)+
                    $($(#[cfg($($when)*)])? Self::$dialect => $title,)+
                    $(Self::$host => $host_title,)+
                }
            }
        }
    };
    (@if enabled) => { true };
    (@if) => { false };
}

with_dialects!(identities);

impl DialectId {
    /// Whether its hooks are read where these dialects were enabled.
    pub(crate) fn is_read(self, enabled: &[Self]) -> bool {
        !self.needs_enabling() || enabled.contains(&self)
    }

    /// The dialect of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ORDER.into_iter().find(|dialect| dialect.name() == name)
    }
}

impl fmt::Display for DialectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
