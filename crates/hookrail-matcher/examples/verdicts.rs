//! Says for patterns and subjects what the matcher makes of them, so that another engine can be asked the same.
//! `scripts/matcher-vs-node` compares it with JavaScript's own regular expressions.
//!
//! Reads one JSON object on each line, `{"pattern": …, "subjects": […]}`, and answers each with one line:
//! `{"valid": true, "matches": [true, false, null]}`, where null means that the step limit was reached.

use std::io::{BufRead as _, Write as _};

use hookrail_matcher::{Language, Matcher, OnInvalid, Scope, Verdict};
use serde::Deserialize;

#[derive(Deserialize)]
struct Question {
    pattern: String,
    subjects: Vec<String>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let question: Question = serde_json::from_str(&line?)?;
        let compiled = Matcher::compile(&question.pattern, Language::Regex, Scope::Anywhere, OnInvalid::Literal);
        let verdict = |subject: &String| match compiled.matcher.test(subject) {
            Verdict::Matches => Some(true),
            Verdict::Differs => Some(false),
            Verdict::LimitReached => None,
        };
        let matches: Vec<Option<bool>> = question.subjects.iter().map(verdict).collect();
        writeln!(out, "{}", serde_json::json!({"valid": compiled.problem.is_none(), "matches": matches}))?;
    }
    Ok(())
}
