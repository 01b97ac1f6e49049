//! {{name}}: {{about}}.

use std::process::ExitCode;

use hookrail_hook::{{{imports}}};

fn main() -> ExitCode {
    hookrail_hook::run(|event: {{event}}| {
        let text = {{rust_text}};
        if text.contains("{{word}}") {
            {{rust_answer}}
        } else {
            HookAnswer::none()
        }
    })
}
