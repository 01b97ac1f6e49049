//! A guard for `BeforeTool`: keeps the agent from writing `.env` files.

use std::process::ExitCode;

use hookrail_hook::{BeforeTool, HookAnswer};

fn main() -> ExitCode {
    hookrail_hook::run(|event: BeforeTool| match event.input_text("path") {
        Some(path) if path.ends_with(".env") => HookAnswer::deny("files named `.env` hold secrets"),
        _ => HookAnswer::none(),
    })
}
