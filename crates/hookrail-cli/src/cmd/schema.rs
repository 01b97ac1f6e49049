//! `hookrail schema`: the JSON Schemas of settings, plugins and hookrail's own configuration, of test cases, of
//! what hooks receive and answer, and of the bus's messages.

use hookrail::Json;
use hookrail_app::failure::{Failure, Result};
use hookrail_app::schemas::schemas;

use crate::args::SchemaArgs;
use crate::cmd::exit::Exit;
use crate::output;

pub(crate) fn run(args: &SchemaArgs) -> Result<Exit> {
    let schemas = schemas();
    let Some(wanted) = &args.name else {
        let names: String = schemas.iter().map(|(name, _)| format!("{name}\n")).collect();
        output::text(&names)?;
        return Ok(Exit::Fine);
    };
    match schemas.iter().find(|(name, _)| name == wanted) {
        Some((_, schema)) => {
            output::json(&Json::from(schema))?;
            Ok(Exit::Fine)
        }
        None => {
            let failure = Failure::new(format!("there is no schema `{wanted}`"));
            Err(match hookrail::sources::nearest(wanted, schemas.iter().map(|(name, _)| name.as_str())) {
                Some(name) => failure.hint(format!("did you mean `{name}`?")),
                None => failure.hint("`hookrail schema` lists the names"),
            })
        }
    }
}
