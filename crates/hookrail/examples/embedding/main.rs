//! The programs of the embedding guide, one module each: `cargo run -p hookrail --example embedding -- guard` runs one.

mod agent_loop;
mod closures;
mod guard;
mod minimal;
mod notifications;
mod translator;
mod trust;

use std::error::Error;

type Program = fn() -> Result<(), Box<dyn Error>>;

const PROGRAMS: [(&str, Program); 7] = [
    ("agent_loop", agent_loop::main),
    ("closures", closures::main),
    ("guard", guard::main),
    ("minimal", minimal::main),
    ("notifications", notifications::main),
    ("translator", translator::main),
    ("trust", trust::main),
];

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_default();
    match PROGRAMS.iter().find(|(program, _)| *program == name) {
        Some((_, program)) => program(),
        None => Err(format!("name one of: {}", PROGRAMS.map(|(program, _)| program).join(", ")).into()),
    }
}
