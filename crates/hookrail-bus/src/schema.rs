//! JSON Schemas of the messages, derived from their types.

use serde_json::{Value, json};

use crate::message::{FromServer, ToServer};
use crate::message_kind::MessageKind;
use crate::wire::{Contract as _, LINE_LIMIT};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
/// The version of the schemas. It changes if a message that was accepted would no longer be.
const VERSION: u32 = 1;

/// Returns every schema with its name: one for each message, and one for all lines of each side.
#[must_use]
pub fn schemas() -> Vec<(String, Value)> {
    let sides = [(ToServer::SENDER, ToServer::kinds()), (FromServer::SENDER, FromServer::kinds())];
    let mut schemas = Vec::new();
    for kind in sides.into_iter().flat_map(|(_, kinds)| kinds) {
        let name = kind.schema_name();
        schemas.push((name.clone(), document(&name, format!("`{}`", kind.name), kind.schema())));
    }
    for (sender, kinds) in sides {
        let all: Vec<Value> = kinds.iter().map(MessageKind::schema).collect();
        let title = format!("A line that a {sender} sends");
        schemas.push((sender.to_owned(), document(sender, title, json!({"oneOf": all}))));
    }
    schemas
}

fn document(name: &str, title: String, mut schema: Value) -> Value {
    if let Value::Object(members) = &mut schema {
        members.insert("$schema".to_owned(), json!(DRAFT));
        members.insert("$id".to_owned(), json!(format!("urn:hookrail:bus:{name}:{VERSION}")));
        members.insert("title".to_owned(), json!(title));
        members.insert("$comment".to_owned(), json!(format!("A line has at most {LINE_LIMIT} bytes.")));
    }
    schema
}
