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
use crate::resolve::{Value, World};
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
            "env" => return self.env_string(&call),
            "ps" => self.ps(&call),
            "docker" | "podman" | "nerdctl" => self.docker(&call),
            "docker-compose" | "podman-compose" => self.docker_compose("compose", call.args, &call),
            _ => return None,
        }
        Some(After::same(world.clone(), Output::default()))
    }
}

impl Evaluator<'_> {
    /// `env -S TEXT ARGUMENT…`: the text is divided, and the arguments behind it go on. None without such a text.
    fn env_string(&mut self, call: &Call<'_>) -> Option<After> {
        let text_of = |arg: &Arg| {
            let text = arg.text();
            let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
            let short =
                letters.and_then(|letters| letters.find('S').filter(|at| letters.get(..*at).is_some_and(is_flags)));
            let long = text.strip_prefix("--split-string").filter(|rest| rest.is_empty() || rest.starts_with('='));
            match (short, long) {
                (Some(at), _) => Some(at + 2),
                (None, Some(rest)) => Some(text.len() - rest.len() + usize::from(!rest.is_empty())),
                (None, None) => None,
            }
        };
        let own = call.args.iter().take_while(|arg| arg.text().starts_with('-') && arg.text() != "--");
        let (index, offset) = own.enumerate().find_map(|(index, arg)| Some((index, text_of(arg)?)))?;
        let attached = call.args.get(index)?.from(offset);
        let is_attached = !attached.text().is_empty();
        let text = if is_attached { attached } else { call.args.get(index + 1)?.clone() };
        let behind = call.args.get(index + 1 + usize::from(!is_attached)..).unwrap_or_default();
        let mut code = Value { text: format!("env {}", text.text()), hole: text.value.hole };
        for arg in behind {
            code.push(&Value { text: format!(" {}", quoted(arg.text())), hole: arg.value.hole });
        }
        let after = self.code(&code, call.span, call.name, vec![call.world.child()], call.input);
        Some(After::same(call.world.clone(), after.output))
    }

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

/// Whether letters are options of `env` without a value.
fn is_flags(letters: &str) -> bool {
    letters.bytes().all(|letter| matches!(letter, b'i' | b'v' | b'0'))
}

/// A text as one word of a shell.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Divides arguments by the options that have values.
pub(super) fn divide(args: &[Arg], valued: &str, attached: &str, stops: bool) -> Divided {
    let grammar =
        Grammar { valued, attached, double: "", stops, before_rest: None, has_assignments: false, long_dash: false };
    grammar.divide(args)
}

#[cfg(test)]
mod tests {
    use crate::facts::Why;
    use crate::{Scene, accesses, parse};

    #[test]
    fn programs_with_code_of_their_own_are_known_as_such() {
        for name in super::CODED.split(' ') {
            let scene = Scene { project: "/w", cwd: "/w", home: "/h", surroundings: &() };
            let found = accesses(&parse(&format!("{name} --version")), &scene);
            assert!(found.unknown.iter().all(|unknown| unknown.why != Why::NoTable), "{name}: {:?}", found.unknown);
        }
    }
}
