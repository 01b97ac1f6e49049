//! Divides the arguments of a program into options and operands.

use std::rc::Rc;

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

/// The values of arguments, as the positional parameters of what they are given to.
pub(crate) fn values(args: &[Arg]) -> Rc<Vec<Value>> {
    Rc::new(args.iter().map(|arg| arg.value.clone()).collect())
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

/// Names of options, divided by blanks.
struct Names<'n> {
    list: &'n str,
    /// Those of one letter.
    letters: Option<u128>,
    /// All of them, in order; made for a command that asks very often.
    sorted: Vec<&'n str>,
    asked: u32,
}

/// How often a list is looked through before it is sorted.
const MOST_SEARCHES: u32 = 8;

impl<'n> Names<'n> {
    fn of(list: &'n str) -> Self {
        Self { list, letters: None, sorted: Vec::new(), asked: 0 }
    }

    fn each(&self) -> impl Iterator<Item = &'n str> + use<'n> {
        self.list.split_ascii_whitespace()
    }

    /// Whether a letter is one of the names.
    fn has_letter(&mut self, letter: char) -> bool {
        let bit = |letter: char| 1_u128.checked_shl(u32::from(letter)).unwrap_or_default();
        if !letter.is_ascii() {
            return !self.list.is_ascii() && self.each().any(|name| name.chars().eq([letter]));
        }
        let one = |name: &str| name.chars().next().filter(|_| name.len() == 1).map_or(0, bit);
        let letters = self.each().map(one);
        *self.letters.get_or_insert_with(|| letters.fold(0, |all, one| all | one)) & bit(letter) != 0
    }

    /// The name that begins with this, itself if it is one.
    fn beginning_with(&mut self, given: &str) -> Option<&'n str> {
        self.asked += 1;
        if self.asked <= MOST_SEARCHES {
            return self
                .each()
                .find(|name| *name == given)
                .or_else(|| self.each().find(|name| name.starts_with(given)));
        }
        if self.sorted.is_empty() {
            self.sorted = self.each().collect();
            self.sorted.sort_unstable();
        }
        let first = self.sorted.partition_point(|name| *name < given);
        self.sorted.get(first).copied().filter(|name| name.starts_with(given))
    }
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

    /// Divides arguments.
    pub(crate) fn divide(&self, args: &[Arg]) -> Divided {
        let mut divided = Divided::default();
        let lists = &mut Lists {
            valued: Names::of(self.valued),
            attached: Names::of(self.attached),
            double: Names::of(self.double),
        };
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
                long_option(long, 2, arg, &mut rest, lists, &mut divided);
            } else if let Some(short) = text.strip_prefix('-').filter(|short| !short.is_empty()) {
                if self.long_dash && short.len() > 1 {
                    long_option(short, 1, arg, &mut rest, lists, &mut divided);
                } else {
                    short_options(arg, &mut rest, lists, &mut divided);
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
}

/// The names of options with a value, of those whose value can only be attached, and of those with two.
struct Lists<'n> {
    valued: Names<'n>,
    attached: Names<'n>,
    double: Names<'n>,
}

fn long_option<'a>(
    name: &str,
    dashes: usize,
    arg: &Arg,
    rest: &mut impl Iterator<Item = &'a Arg>,
    lists: &mut Lists<'_>,
    divided: &mut Divided,
) {
    let (name, given) = match name.split_once('=') {
        Some((name, _)) => (name, Some(arg.from(dashes + name.len() + 1))),
        None => (name, None),
    };
    if given.is_none() && lists.double.beginning_with(name) == Some(name) {
        rest.next();
        divided.options.push(GivenOption { is_whole: true, ..GivenOption::new(name, rest.next().cloned()) });
        return;
    }
    let known = lists.valued.beginning_with(name);
    let mut is_valued =
        || known.is_some_and(|known| is_option(known, name)) && lists.attached.beginning_with(name) != Some(name);
    let value = if given.is_none() && is_valued() { rest.next().cloned() } else { given };
    divided.options.push(GivenOption { is_whole: known == Some(name), ..GivenOption::new(name, value) });
}

fn short_options<'a>(
    arg: &Arg,
    rest: &mut impl Iterator<Item = &'a Arg>,
    lists: &mut Lists<'_>,
    divided: &mut Divided,
) {
    let text = arg.text();
    let mut offset = 1;
    while let Some(letter) = text.get(offset..).and_then(|rest| rest.chars().next()) {
        offset += letter.len_utf8();
        let behind = text.len() > offset;
        let is_attached = lists.attached.has_letter(letter);
        let takes_all = is_attached || lists.valued.has_letter(letter);
        let value = match behind {
            true if takes_all => Some(arg.from(offset)),
            false if takes_all && !is_attached => rest.next().cloned(),
            true | false => None,
        };
        divided.options.push(GivenOption::new(letter, value));
        if takes_all {
            return;
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
