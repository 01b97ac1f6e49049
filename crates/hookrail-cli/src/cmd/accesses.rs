//! `hookrail accesses`: what a shell line would do. Runs nothing.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use hookrail::Json;
use hookrail_app::accesses::{LONGEST_LINE, LinePlaces, line_of_bytes, of_line};
use hookrail_app::failure::{Failure, Result};
use hookrail_shell::AccessDocument;
use serde_json::json;

use crate::args::AccessesArgs;
use crate::cmd::exit::Exit;
use crate::{output, render};

pub(crate) fn run(args: &AccessesArgs) -> Result<Exit> {
    let line = line_of_bytes(&match (&args.line, &args.line_from) {
        (Some(line), _) => line.as_encoded_bytes().to_vec(),
        (None, Some(file)) => read_line(file)?,
        // The parser requires one of the two.
        (None, None) => Vec::new(),
    });
    let places = LinePlaces { project: args.project.as_deref(), cwd: args.cwd.as_deref(), home: args.home.as_deref() };
    let accesses = of_line(&line, places)?;
    if args.json {
        output::json(&Json::from(json!(AccessDocument::from(&accesses))))?;
    } else {
        output::text(&render::accesses::report(&line, &accesses))?;
    }
    Ok(Exit::Fine)
}

fn read_line(file: &Path) -> Result<Vec<u8>> {
    let from = if file == Path::new("-") { "standard input".to_owned() } else { format!("`{}`", file.display()) };
    let source: std::io::Result<Box<dyn Read>> = match file == Path::new("-") {
        true => Ok(Box::new(std::io::stdin().lock())),
        false => File::open(file).map(|file| Box::new(file) as Box<dyn Read>),
    };
    let mut line = Vec::new();
    source.and_then(|source| source.take(LONGEST_LINE).read_to_end(&mut line)).map_err(|error| {
        Failure::new(format!("{from} cannot be read: {error}"))
            .hint("`--line-from` names a file, or `-` for standard input")
    })?;
    Ok(line)
}
