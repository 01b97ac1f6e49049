//! Divides the words of a command as its table says.

use super::options::{Arg, Divided, Grammar};
use crate::command_words::CommandWords;
use crate::resolve::{Value, base_name};
use crate::syntax::Span;
use crate::tables::{Row, tables};

impl CommandWords {
    /// Divides the arguments of a program as its table says.
    ///
    /// ```
    /// use hookrail_shell::CommandWords;
    ///
    /// let words = |line: &str| CommandWords::of("rm", &line.split(' ').map(str::to_owned).collect::<Vec<_>>());
    /// assert_eq!(words("-fR x").operands, ["x"]);
    /// assert_eq!(words("--recursive --force x").options, words("-r -f x").options);
    /// ```
    #[must_use]
    pub fn of(program: &str, args: &[String]) -> Self {
        divided(program, args)
    }
}

fn divided(program: &str, args: &[String]) -> CommandWords {
    let name = base_name(program);
    let args: Vec<Arg> =
        args.iter().map(|text| Arg { value: Value::known(text.clone()), span: Span::new(0, 0) }).collect();
    let plain = Row::default();
    let row = tables().row(name).unwrap_or(&plain);
    let mut words = CommandWords::default();
    if !tables().has_subcommands(name) {
        // The words of a command behind a wrapper are words too.
        add(&Grammar { before_rest: None, ..Grammar::of(row) }.divide(&args), row, &mut words);
        return words;
    }
    let divided = Grammar { stops: true, ..Grammar::of(row) }.divide(&args);
    let (first, rest) = match divided.operands.split_first() {
        Some((first, rest)) => (first.text().to_owned(), rest.to_vec()),
        None => {
            add(&divided, row, &mut words);
            return words;
        }
    };
    let options = Divided { options: divided.options, operands: Vec::new() };
    add(&options, row, &mut words);
    words.operands.push(first.clone());
    let pair = rest.first().and_then(|second| tables().subcommand(name, &format!("{first}/{}", second.text())));
    let inner = pair.or_else(|| tables().subcommand(name, &first)).unwrap_or(row);
    add(&Grammar { before_rest: None, stops: false, ..Grammar::of(inner) }.divide(&rest), inner, &mut words);
    words
}

fn add(divided: &Divided, row: &Row, words: &mut CommandWords) {
    for option in divided.options.iter().filter(|option| option.name != "=") {
        let group =
            row.same.iter().find(|group| group.iter().any(|name| super::options::is_option(name, &option.name)));
        let name = group.and_then(|group| group.first()).unwrap_or(&option.name);
        if !words.options.contains(name) {
            words.options.push(name.clone());
        }
    }
    words.operands.extend(divided.operands.iter().map(|operand| operand.text().to_owned()));
}
