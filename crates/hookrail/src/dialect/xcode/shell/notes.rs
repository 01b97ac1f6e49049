//! What is found out about a command as a whole.

use super::super::code_words::UnsafeUse;

/// What was found out about the command as a whole. A value counts here only if it is not plain.
#[derive(Default)]
pub(super) struct Notes {
    /// The command refers to a value.
    pub(super) refers: bool,
    /// It refers to one outside of quoted code for another shell.
    pub(super) refers_outside_code: bool,
    /// A variable of the shell gets a value.
    pub(super) assigns: bool,
    /// A variable of the shell may get a value from the words of a command.
    pub(super) fills_variables: bool,
    /// A variable of the shell gets what a command reads.
    pub(super) reads_variables: bool,
    /// There is code for another shell.
    pub(super) has_code: bool,
    /// There is code into which the shell inserts something else.
    pub(super) has_open_code: bool,
    /// There is code into which the shell inserts an argument of a function, or a program such as `find` one of its own.
    pub(super) has_code_with_arguments: bool,
    /// An interpreter reads its program from standard input.
    pub(super) feeds_an_interpreter: bool,
    pub(super) unsafe_use: Option<UnsafeUse>,
}

impl Notes {
    pub(super) fn refuse(&mut self, why: UnsafeUse) {
        self.unsafe_use.get_or_insert(why);
    }

    /// Refuses what can only be seen in the command as a whole.
    pub(super) fn conclude(&mut self) {
        if self.refers && self.feeds_an_interpreter {
            self.refuse(UnsafeUse::StandardInput);
        }
        let reaches_code = self.fills_variables || (self.refers_outside_code && self.reads_variables);
        if (self.assigns && self.has_code)
            || (self.has_open_code && reaches_code)
            || (self.has_code_with_arguments && self.refers_outside_code)
        {
            self.refuse(UnsafeUse::Assigned);
        }
    }

    /// Adds what was found out about code inside the command.
    pub(super) fn add_code(&mut self, code: &Self) {
        self.refers |= code.refers;
        self.assigns |= code.assigns;
        self.has_code |= code.has_code;
        self.feeds_an_interpreter |= code.feeds_an_interpreter;
        self.unsafe_use = self.unsafe_use.or(code.unsafe_use);
    }
}
