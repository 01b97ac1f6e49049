//! The words of a command in normal form: options one by one and under one name, and what is no option.

/// The words of a command behind its program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandWords {
    /// What is no option and no value of one, in its order.
    pub operands: Vec<String>,
    /// The names of the options without their dashes; where several mean the same, the first of the table.
    pub options: Vec<String>,
}

#[cfg(not(feature = "syntax"))]
impl CommandWords {
    /// Divides the arguments of a program into options and others. Without tables every word with a dash is an option.
    #[must_use]
    pub fn of(_program: &str, args: &[String]) -> Self {
        let (options, operands): (Vec<String>, Vec<String>) =
            args.iter().cloned().partition(|arg| arg.len() > 1 && arg.starts_with('-'));
        let options = options.into_iter().map(|option| option.trim_start_matches('-').to_owned()).collect();
        Self { operands, options }
    }
}
