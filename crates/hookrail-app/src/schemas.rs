//! The JSON Schemas of settings, plugins and hookrail's own configuration, of test cases, of what hooks receive and answer,
//! and of the bus's messages.

use hookrail::dialect::{llxprt, xcode};
use serde_json::Value;

/// Returns the name and the text of every schema.
pub fn schemas() -> Vec<(String, Value)> {
    let mut schemas = llxprt::schemas();
    schemas.extend(xcode::schemas());
    schemas.extend(hookrail_bus::schemas().into_iter().map(|(name, schema)| (format!("bus.{name}"), schema)));
    schemas.push(("config".to_owned(), crate::config::schema()));
    schemas.push(("rules".to_owned(), hookrail::rules::schema()));
    schemas.push(("hooktest".to_owned(), crate::cases::schema()));
    schemas
}
