//! The program: see `hookrail-bench --help`.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    hookrail_bench::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("hookrail-bench: the floor is only known on Linux");
    ExitCode::FAILURE
}
