//! Programs whose options and operands are more than a table can say.

mod curl;
mod docker;
mod edit;
mod editor;
mod find;
mod git;
mod git_push;
mod git_settings;
mod rsync;
mod shell;
mod tar;
mod transfer;
mod xargs;

use super::evaluate::{After, Evaluator, Input, Output};
use super::options::{Arg, Divided, Grammar};
use crate::resolve::World;
use crate::syntax::Span;

/// A command that a coded program runs in.
pub(super) struct Call<'c> {
    pub(super) name: &'c str,
    pub(super) args: &'c [Arg],
    pub(super) span: Span,
    pub(super) world: &'c World,
    pub(super) input: &'c Input,
}

/// Programs that have code of their own.
const CODED: &str = "bash sh zsh dash ksh ash rbash mksh fish csh tcsh xargs parallel find gfind fd fdfind git tar bsdtar gtar rsync \
    curl wget sed gsed awk gawk mawk nawk dd ps docker podman nerdctl docker-compose podman-compose";

/// Whether a program has code of its own.
pub(super) fn is_coded(name: &str) -> bool {
    CODED.split(' ').any(|coded| coded == name)
}

impl Evaluator<'_> {
    /// Runs a program that has code of its own.
    pub(crate) fn coded_program(
        &mut self,
        name: &str,
        args: &[Arg],
        span: Span,
        world: &World,
        input: &Input,
    ) -> Option<After> {
        if !is_coded(name) {
            return None;
        }
        let call = Call { name, args, span, world, input };
        match name {
            "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash" | "rbash" | "mksh" | "fish" | "csh" | "tcsh" => {
                return Some(self.shell(&call));
            }
            "xargs" => return Some(self.xargs(&call)),
            "parallel" => return Some(self.parallel(&call)),
            "find" | "gfind" => return Some(self.find(&call)),
            "fd" | "fdfind" => return Some(self.fd(&call)),
            "git" => {
                self.git_command(&call);
                let text = git::printed(args, world);
                return Some(After::same(world.clone(), Output { text, ..Output::default() }));
            }
            "tar" | "bsdtar" | "gtar" => self.tar(&call),
            "rsync" => self.rsync(&call),
            "curl" => self.curl(&call),
            "wget" => self.wget(&call),
            "sed" | "gsed" => self.sed(&call),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(&call),
            "dd" => self.dd(&call),
            "ps" => self.ps(&call),
            "docker" | "podman" | "nerdctl" => self.docker(&call),
            "docker-compose" | "podman-compose" => self.docker_compose("compose", call.args, &call),
            _ => return None,
        }
        Some(After::same(world.clone(), Output::default()))
    }
}

impl Evaluator<'_> {
    /// `ps`: among its letters without a dash, `e` shows the variables of programs.
    fn ps(&mut self, call: &Call<'_>) {
        let shows =
            |arg: &Arg| arg.text().contains('e') && arg.text().bytes().all(|letter| letter.is_ascii_alphabetic());
        let is_value = |index: usize| {
            let before = index.checked_sub(1).and_then(|index| call.args.get(index));
            before.is_some_and(|before| before.text().starts_with('-'))
        };
        if call.args.iter().enumerate().any(|(index, arg)| shows(arg) && !is_value(index)) {
            self.facts.env_dump = Some(call.span);
        }
    }
}

/// Divides arguments by the options that have values.
pub(super) fn divide(args: &[Arg], valued: &str, attached: &str, stops: bool) -> Divided {
    let grammar =
        Grammar { valued, attached, double: "", stops, before_rest: None, has_assignments: false, long_dash: false };
    grammar.divide(args)
}
