//! What an operand or the value of an option means.

/// What an operand or the value of an option means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nothing that is a fact.
    Nothing,
    /// A file that is read; everything below it if the command is recursive.
    Read,
    /// Everything below it is read.
    ReadBelow,
    /// A file that is written; everything below it if the command is recursive.
    Write,
    /// Everything below it is written.
    WriteBelow,
    /// A file that is read and written.
    Change,
    /// A file that is deleted.
    Delete,
    /// A file that is overwritten and deleted.
    Wipe,
    /// A file that is read, and from which another one is made beside it: `a.gz` of `a`.
    Beside,
    /// The same, and the file is deleted.
    Replace,
    /// The destination of a copy: a file, or a folder for several.
    Destination,
    /// The folder that copies go to.
    Into,
    /// A URL that is connected to.
    Url,
    /// A URL, or a part of a request, which may be a file: `name@file`.
    RequestItem,
    /// A host, possibly with a user and a port.
    Host,
    /// A file here, or on another machine (`host:path`).
    CopySource,
    /// The same as a destination.
    CopyTarget,
    /// A script that is run.
    ShellScript,
    /// Code of a language.
    Code(String),
    /// A filter of jq, which may print variables.
    Filter,
    /// Code of a database, which may have commands of its client.
    Sql,
    /// Commands of a client that copies files.
    Transfer,
    /// A command of an editor, which may run a shell.
    EditorCommand,
    /// `Name=value`, where some values are commands.
    Setting,
    /// A module of a language, which may be a program of the tables.
    Module,
    /// Code of a shell.
    Shell,
    /// Words that together are code of a shell.
    ShellWords,
    /// Words that run on another machine.
    RemoteWords,
    /// A command: this operand and all that follow.
    Command,
    /// A command, or first something else: the version of a tool, the name of a package.
    SomeCommand,
    /// A command below another root or on another machine.
    RemoteCommand,
    /// The folder in which the command works.
    Folder,
    /// The name of a task.
    Task(String),
}

impl Role {
    fn read(text: &str) -> Result<Self, String> {
        Ok(match text {
            "-" => Self::Nothing,
            "read" => Self::Read,
            "read-below" => Self::ReadBelow,
            "write" => Self::Write,
            "write-below" => Self::WriteBelow,
            "change" => Self::Change,
            "delete" => Self::Delete,
            "wipe" => Self::Wipe,
            "beside" => Self::Beside,
            "replace" => Self::Replace,
            "destination" => Self::Destination,
            "into" => Self::Into,
            "url" => Self::Url,
            "request-item" => Self::RequestItem,
            "host" => Self::Host,
            "copy-source" => Self::CopySource,
            "copy-target" => Self::CopyTarget,
            "script" => Self::ShellScript,
            "sql" => Self::Sql,
            "filter" => Self::Filter,
            "transfer" => Self::Transfer,
            "editor-command" => Self::EditorCommand,
            "setting" => Self::Setting,
            "module" => Self::Module,
            "shell" => Self::Shell,
            "shell-words" => Self::ShellWords,
            "remote-words" => Self::RemoteWords,
            "command" => Self::Command,
            "some-command" => Self::SomeCommand,
            "remote-command" => Self::RemoteCommand,
            "folder" => Self::Folder,
            other => match other.split_once(':') {
                Some(("code", language)) => Self::Code(language.to_owned()),
                Some(("task", kind)) => Self::Task(kind.to_owned()),
                _ => return Err(format!("the role `{other}` does not exist")),
            },
        })
    }

    /// Reads the role of an option's value.
    pub(crate) fn of_option(text: &str) -> Result<Self, String> {
        Self::read(text)
    }

    /// Whether the operand begins a command, with its own options behind.
    pub(crate) fn is_rest(&self) -> bool {
        matches!(self, Self::Command | Self::SomeCommand | Self::RemoteCommand | Self::RemoteWords | Self::ShellWords)
    }
}

/// The roles of operands: some from the beginning, one for any number in the middle, some from the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Operands {
    pub(crate) first: Vec<Role>,
    pub(crate) middle: Option<Role>,
    pub(crate) last: Vec<Role>,
    /// Whether `NAME=value` can stand before the operands.
    pub(crate) has_assignments: bool,
}

impl Operands {
    /// Reads roles such as `- read* destination`.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut operands = Self::default();
        for word in text.split_whitespace() {
            if word == "assignment*" {
                operands.has_assignments = true;
                continue;
            }
            match word.strip_suffix('*') {
                Some(_) if operands.middle.is_some() => return Err(format!("two roles of `{text}` have a star")),
                Some(role) => operands.middle = Some(Role::read(role)?),
                None if operands.middle.is_some() => operands.last.push(Role::read(word)?),
                None => operands.first.push(Role::read(word)?),
            }
        }
        Ok(operands)
    }

    /// Returns the role of each of so many operands. What is too many has no meaning.
    pub(crate) fn roles(&self, count: usize) -> Vec<Role> {
        let mut roles: Vec<Role> = self.first.iter().take(count).cloned().collect();
        let left = count - roles.len();
        let from_end = if self.middle.is_some() && !self.last.is_empty() {
            self.last.len().min(left.saturating_sub(1))
        } else {
            0
        };
        let middle = self.middle.clone().unwrap_or(Role::Nothing);
        roles.extend(std::iter::repeat_n(middle, left - from_end));
        roles.extend(self.last.iter().take(from_end).cloned());
        roles
    }

    /// Returns how many operands stand before a command, if there is one.
    pub(crate) fn before_rest(&self) -> Option<usize> {
        self.first.iter().position(Role::is_rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_given_from_both_ends() {
        let copy = Operands::read("read* destination").unwrap();
        assert_eq!(copy.roles(3), [Role::Read, Role::Read, Role::Destination]);
        assert_eq!(copy.roles(1), [Role::Read]);
        let search = Operands::read("- read*").unwrap();
        assert_eq!(search.roles(2), [Role::Nothing, Role::Read]);
        assert!(Operands::read("nonsense").is_err());
    }
}
