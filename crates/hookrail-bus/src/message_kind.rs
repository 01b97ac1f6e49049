//! The name, the meaning and the fields of a message, derived from the type of its payload.

use hookrail::{Json, JsonKind};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value, json};

/// The name, the meaning and the schema of a message, derived from its type.
#[derive(Debug)]
pub struct MessageKind {
    /// The `type` of the message.
    pub(crate) name: &'static str,
    /// The meaning of the message.
    pub(crate) about: &'static str,
    sender: &'static str,
    /// The names of the fields of its payload, in the order in which they are declared.
    order: &'static [&'static str],
    payload: Value,
}

impl MessageKind {
    pub(crate) fn new<'de, T: JsonSchema + Deserialize<'de>>(
        sender: &'static str,
        name: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, about, sender, order: field_names::<T>(), payload: payload_schema::<T>() }
    }

    /// Returns the name of its schema. Both sides send a `hello`, so the name has the sender.
    pub(crate) fn schema_name(&self) -> String {
        format!("{}.{}", self.sender, self.name)
    }

    pub(crate) fn has_required_fields(&self) -> bool {
        self.fields().any(|field| field.is_required)
    }

    pub(crate) fn fields(&self) -> impl Iterator<Item = FieldSchema<'_>> {
        let required = self.payload.get("required").and_then(Value::as_array);
        self.order.iter().filter_map(move |name| {
            let schema = self.payload.get("properties")?.get(name)?;
            let is_required = required.is_some_and(|required| required.iter().any(|one| one == name));
            Some(FieldSchema { name, schema, is_required })
        })
    }

    /// Returns the schema of the whole message.
    pub(crate) fn schema(&self) -> Value {
        // A message without required fields may omit its payload.
        let required = if self.has_required_fields() { json!(["type", "payload"]) } else { json!(["type"]) };
        json!({
            "type": "object",
            "description": self.about,
            "properties": {"type": {"const": self.name}, "payload": self.payload},
            "required": required,
        })
    }
}

/// A field of a payload.
pub(crate) struct FieldSchema<'a> {
    pub(crate) name: &'static str,
    /// An optional field may also be null.
    pub(crate) is_required: bool,
    schema: &'a Value,
}

impl FieldSchema<'_> {
    /// Returns the meaning of the field.
    pub(crate) fn about(&self) -> &str {
        self.schema.get("description").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns what the value of the field must be, in words.
    pub(crate) fn described(&self) -> String {
        if let Some(words) = self.schema.get("enum").and_then(Value::as_array) {
            let words: Vec<String> = words.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
            return format!("one of {}", words.join(", "));
        }
        match self.type_name() {
            "string" => "a string".to_owned(),
            "boolean" => "true or false".to_owned(),
            "integer" => "a whole number".to_owned(),
            "number" => "a number".to_owned(),
            "array" => "a list of strings".to_owned(),
            _ => {
                let members: Vec<String> = self.required_members().map(|name| format!("`{name}`")).collect();
                if members.is_empty() {
                    "an object".to_owned()
                } else {
                    format!("an object with {}", members.join(" and "))
                }
            }
        }
    }

    pub(crate) fn has_kind(&self, kind: JsonKind) -> bool {
        match kind {
            JsonKind::Object => self.type_name() == "object",
            JsonKind::Array => self.type_name() == "array",
            JsonKind::String => self.type_name() == "string",
            JsonKind::Number => matches!(self.type_name(), "number" | "integer"),
            JsonKind::Boolean => self.type_name() == "boolean",
            JsonKind::Null => false,
        }
    }

    /// Whether a value that is not null is valid for the field.
    pub(crate) fn accepts(&self, value: &Json) -> bool {
        let is_word = |word: String| match self.schema.get("enum").and_then(Value::as_array) {
            Some(words) => words.iter().any(|known| *known == word),
            None => true,
        };
        self.has_kind(value.kind())
            && match self.type_name() {
                "string" => value.as_str().is_some_and(is_word),
                "array" => value.decode::<Vec<String>>().is_some(),
                "integer" => value.decode::<u64>().is_some(),
                "object" => {
                    let members = value.as_object().unwrap_or_default();
                    self.required_members().all(|name| members.get(name).and_then(Json::as_str).is_some())
                }
                _ => true,
            }
    }

    fn type_name(&self) -> &str {
        match self.schema.get("type") {
            Some(Value::Array(types)) => types.iter().find_map(Value::as_str).unwrap_or_default(),
            Some(only) => only.as_str().unwrap_or_default(),
            None => "",
        }
    }

    fn required_members(&self) -> impl Iterator<Item = &str> {
        self.schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }
}

fn payload_schema<T: JsonSchema>() -> Value {
    // Inlined, so that a reader of one file needs no other.
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(members) = &mut schema {
        tidy(members);
        // The message itself has a description.
        members.remove("description");
        members.entry("required").or_insert_with(|| json!([]));
    }
    schema
}

/// Removes what describes the Rust type and not the message.
fn tidy(schema: &mut Map<String, Value>) {
    for key in ["title", "format", "default", "additionalProperties"] {
        schema.remove(key);
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().filter_map(Value::as_object_mut).for_each(tidy);
    }
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        tidy(items);
    }
}

/// Returns the names of a type's fields in the order of their declaration, which a schema does not keep. A derived
/// `Deserialize` passes them to `deserialize_struct`.
fn field_names<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    struct FieldNames<'a>(&'a mut &'static [&'static str]);

    impl<'de> Deserializer<'de> for FieldNames<'_> {
        type Error = Error;

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _name: &'static str,
            fields: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, Error> {
            *self.0 = fields;
            self.deserialize_any(visitor)
        }

        fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
            Err(Error::custom("only the names of fields are read"))
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    let mut names: &'static [&'static str] = &[];
    // There is no value to read, so this always fails.
    let _ = T::deserialize(FieldNames(&mut names));
    names
}
