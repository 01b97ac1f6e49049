//! Standard input and output of this process.

use tokio::io::{Stdin, Stdout};

use super::Lines;

/// A connection over standard input and output. Nothing else may write to standard output meanwhile.
///
/// Reading happens on a thread that cannot be stopped; a runtime that has to end before its input does is shut down in
/// the background.
#[must_use]
pub fn stdio() -> Lines<Stdin, Stdout> {
    let lines = Lines::new(tokio::io::stdin(), tokio::io::stdout());
    #[cfg(unix)]
    let lines = lines.probe(Box::new(|| super::socket::is_hung_up(&std::io::stdout())));
    lines
}
