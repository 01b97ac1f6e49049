//! A guard for `BeforeTool`: keeps the agent from writing `.env` files.

use std::process::ExitCode;

use hookrail_hook::{Answer, BeforeTool};

fn main() -> ExitCode {
    hookrail_hook::run(|event: BeforeTool| match event.input_text("path") {
        Some(path) if path.ends_with(".env") => Answer::deny("files named `.env` hold secrets"),
        _ => Answer::none(),
    })
}
