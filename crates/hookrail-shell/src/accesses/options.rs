//! Divides the arguments of a program into options and operands.

use crate::resolve::Value;
use crate::syntax::Span;
use crate::tables::Row;

/// An argument of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arg {
    pub(crate) value: Value,
    pub(crate) span: Span,
}

impl Arg {
    pub(crate) fn text(&self) -> &str {
        &self.value.text
    }

    /// Returns the rest of the text as an argument.
    pub(crate) fn from(&self, offset: usize) -> Self {
        let text = self.value.text.get(offset..).unwrap_or_default().to_owned();
        Self { value: Value { text, hole: self.value.hole }, span: self.span }
    }
}

/// An option with its value.
#[derive(Clone, Debug)]
pub(crate) struct GivenOption {
    /// The name without its dashes.
    pub(crate) name: String,
    /// Whether the program has an option of this very name, so that it is no other one shortened.
    pub(crate) is_whole: bool,
    pub(crate) value: Option<Arg>,
}

impl GivenOption {
    fn new(name: impl Into<String>, value: Option<Arg>) -> Self {
        Self { name: name.into(), is_whole: false, value }
    }

    fn is(&self, name: &str) -> bool {
        if self.is_whole { name == self.name } else { is_option(name, &self.name) }
    }
}

/// The arguments of a program, divided.
#[derive(Clone, Debug, Default)]
pub(crate) struct Divided {
    pub(crate) options: Vec<GivenOption>,
    pub(crate) operands: Vec<Arg>,
}

impl Divided {
    /// Whether one of these options is given. Long options may be shortened.
    pub(crate) fn has(&self, names: &[String]) -> bool {
        self.options.iter().any(|option| names.iter().any(|name| option.is(name)))
    }

    /// Whether one of these options is given.
    pub(crate) fn has_any(&self, names: &[&str]) -> bool {
        self.options.iter().any(|option| names.iter().any(|name| option.is(name)))
    }

    /// Returns the values of these options.
    pub(crate) fn values_of(&self, names: &[String]) -> impl Iterator<Item = &Arg> {
        let is_one = move |option: &&GivenOption| names.iter().any(|name| option.is(name));
        self.options.iter().filter(is_one).filter_map(|option| option.value.as_ref())
    }

    /// Returns the values of an option.
    pub(crate) fn values<'d>(&'d self, names: &'d [&'d str]) -> impl Iterator<Item = &'d Arg> {
        self.options
            .iter()
            .filter(|option| names.iter().any(|name| option.is(name)))
            .filter_map(|option| option.value.as_ref())
    }
}

/// Whether an option that is given is this one, or the beginning of its long name.
pub(crate) fn is_option(name: &str, given: &str) -> bool {
    name == given || (given.chars().count() >= 3 && name.starts_with(given))
}

/// Names that are divided by blanks.
fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split_ascii_whitespace()
}

/// How options are written.
pub(crate) struct Grammar<'g> {
    /// Options with a value, divided by blanks.
    pub(crate) valued: &'g str,
    /// Options whose value can only be attached.
    pub(crate) attached: &'g str,
    /// Long options with two values, divided by blanks.
    pub(crate) double: &'g str,
    /// Options end at the first operand.
    pub(crate) stops: bool,
    /// How many operands stand before a command, which has options of its own.
    pub(crate) before_rest: Option<usize>,
    pub(crate) has_assignments: bool,
    pub(crate) long_dash: bool,
}

impl<'g> Grammar<'g> {
    pub(crate) fn of(row: &'g Row) -> Self {
        Self {
            valued: &row.valued,
            attached: &row.attached,
            double: &row.double,
            stops: row.stops,
            before_rest: row.operands.before_rest(),
            has_assignments: row.operands.has_assignments,
            long_dash: row.long_dash,
        }
    }

    fn is_valued(&self, name: &str) -> bool {
        names(self.valued).any(|valued| is_option(valued, name)) && !names(self.attached).any(|other| other == name)
    }

    /// Divides arguments.
    pub(crate) fn divide(&self, args: &[Arg]) -> Divided {
        let mut divided = Divided::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let text = arg.text();
            let is_rest = self.before_rest.is_some_and(|count| divided.operands.len() >= count.max(1));
            if text == "--" && !is_rest {
                divided.operands.extend(rest.cloned());
                break;
            }
            if is_rest {
                divided.operands.push(arg.clone());
                divided.operands.extend(rest.cloned());
                break;
            }
            if let Some(long) = text.strip_prefix("--") {
                self.long(long, 2, arg, &mut rest, &mut divided);
            } else if let Some(short) = text.strip_prefix('-').filter(|short| !short.is_empty()) {
                if self.long_dash && short.len() > 1 {
                    self.long(short, 1, arg, &mut rest, &mut divided);
                } else {
                    self.short(arg, &mut rest, &mut divided);
                }
            } else if text == "-" && self.has_assignments {
                // `env -` empties the environment.
                divided.options.push(GivenOption::new("i", None));
            } else {
                divided.operands.push(arg.clone());
                // Such programs take any name.
                let is_assignment = self.has_assignments
                    && !text.starts_with('/')
                    && text.split_once('=').is_some_and(|(name, _)| !name.is_empty());
                if is_assignment {
                    // It is put before the command, of which it is no part.
                    divided.operands.pop();
                    divided.options.push(GivenOption::new("=", Some(arg.clone())));
                    continue;
                }
                let is_done = self.stops || self.before_rest.is_some_and(|count| divided.operands.len() > count);
                if is_done {
                    divided.operands.extend(rest.cloned());
                    break;
                }
            }
        }
        divided
    }

    fn long<'a>(
        &self,
        name: &str,
        dashes: usize,
        arg: &Arg,
        rest: &mut impl Iterator<Item = &'a Arg>,
        divided: &mut Divided,
    ) {
        let (name, value) = match name.split_once('=') {
            Some((name, _)) => (name, Some(arg.from(dashes + name.len() + 1))),
            None if names(self.double).any(|double| double == name) => {
                rest.next();
                (name, rest.next().cloned())
            }
            None if self.is_valued(name) => (name, rest.next().cloned()),
            None => (name, None),
        };
        let is_whole = names(self.valued).any(|known| known == name);
        divided.options.push(GivenOption { is_whole, ..GivenOption::new(name, value) });
    }

    fn short<'a>(&self, arg: &Arg, rest: &mut impl Iterator<Item = &'a Arg>, divided: &mut Divided) {
        let text = arg.text();
        let mut offset = 1;
        while let Some(letter) = text.get(offset..).and_then(|rest| rest.chars().next()) {
            let name = letter.to_string();
            offset += letter.len_utf8();
            let behind = text.len() > offset;
            if names(self.attached).any(|other| other == name) {
                let value = behind.then(|| arg.from(offset));
                divided.options.push(GivenOption::new(name, value));
                return;
            }
            if names(self.valued).any(|other| other == name) {
                let value = if behind { Some(arg.from(offset)) } else { rest.next().cloned() };
                divided.options.push(GivenOption::new(name, value));
                return;
            }
            divided.options.push(GivenOption::new(name, None));
        }
    }
}

/// Whether a text is `NAME=value`.
pub(crate) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|letter: char| letter.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
