//! Runs a scripted model on loopback until it is ended. The first line on standard output is its port.

#![forbid(unsafe_code)]

use std::error::Error;
use std::fs::File;
use std::process::ExitCode;

use hookrail_testkit::model::{ModelServer, Script};

const USAGE: &str = "usage: hookrail-model SCRIPT.json [LOG.jsonl [PORT]]

The script is an object:

    {\"steps\": [{\"calls\": [{\"name\": \"Write\", \"input\": {}}]}, {\"text\": \"done\"}], \"side\": \"ok\"}

A step answers a request that offers a tool which the script calls; `side` answers all others. The log has one line of
JSON for each request: n, method, path, kind (main, side or other), step, body.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (script, log, port) = match arguments.as_slice() {
        [script] if !script.starts_with('-') => (script, None, None),
        [script, log] => (script, Some(log), None),
        [script, log, port] => (script, Some(log), Some(port)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(script, log.map(String::as_str), port.map_or("0", String::as_str)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hookrail-model: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(script: &str, log: Option<&str>, port: &str) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(script).map_err(|error| format!("{script}: {error}"))?;
    let script: Script = serde_json::from_str(&text).map_err(|error| format!("{script}: {error}"))?;
    let log = match log {
        Some(path) => Some(File::options().create(true).append(true).open(path)?),
        None => None,
    };
    let server = ModelServer::start_at(port.parse()?, script, log)?;
    println!("{}", server.port());
    server.wait();
    Ok(())
}
