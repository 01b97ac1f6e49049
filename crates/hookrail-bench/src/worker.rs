//! A worker that answers one event after the other, to measure the cost of one exchange.

use std::io::{BufRead, Write};

use serde::Deserialize;

use crate::BenchResult;

/// The fields of a request that the answer needs.
#[derive(Deserialize)]
struct Question {
    id: u64,
}

/// Answers every line of standard input.
pub(crate) fn serve() -> BenchResult<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Question { id } = serde_json::from_str(&line?)?;
        writeln!(out, "{{\"id\":{id},\"output\":{{}}}}")?;
        out.flush()?;
    }
    Ok(())
}
