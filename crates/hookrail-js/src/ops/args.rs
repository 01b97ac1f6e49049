//! The arguments of an operation. They stay text until somebody wants one: read into values all at once, a list of small
//! things would take many times as much memory as its text.

use std::fmt;

use hookrail::Json;
use serde::de::{DeserializeOwned, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::OpError;

/// No operation has more.
const MOST: usize = 8;

/// How long the text of something may be that is read into values.
const LONGEST: usize = 2 << 20;

/// The arguments of an operation.
pub(crate) struct Args<'a>(Vec<&'a RawValue>);

impl<'a> Args<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, OpError> {
        serde_json::from_str(text).map_err(|error| OpError::type_error(error.to_string()))
    }

    fn raw(&self, at: usize) -> &'a str {
        self.0.get(at).map_or("null", |raw| raw.get())
    }

    pub(super) fn text(&self, at: usize) -> Result<String, OpError> {
        self.optional_text(at).ok_or_else(|| OpError::type_error(format!("argument {} must be a string", at + 1)))
    }

    pub(super) fn optional_text(&self, at: usize) -> Option<String> {
        serde_json::from_str(self.raw(at)).ok()
    }

    pub(super) fn flag(&self, at: usize) -> bool {
        self.raw(at) == "true"
    }

    pub(super) fn number(&self, at: usize) -> u32 {
        self.raw(at).parse().unwrap_or(0)
    }

    pub(super) fn float(&self, at: usize) -> f64 {
        self.raw(at).parse().unwrap_or(0.0)
    }

    /// An argument as it is.
    pub(super) fn json(&self, at: usize) -> Json {
        Json::parse(self.raw(at)).unwrap_or_else(|_| Json::null())
    }

    /// An argument of a known shape.
    pub(super) fn decode<T: DeserializeOwned + Default>(&self, at: usize) -> Result<T, OpError> {
        decode(self.raw(at), &format!("argument {}", at + 1))
    }

    /// An argument whose members stay text.
    pub(super) fn parts<T: Deserialize<'a>>(&self, at: usize) -> Result<T, OpError> {
        let wrong = |error| OpError::type_error(format!("argument {} is not what it must be: {error}", at + 1));
        serde_json::from_str(self.raw(at)).map_err(wrong)
    }
}

/// Reads a text into values; null is the default.
pub(super) fn decode<T: DeserializeOwned + Default>(text: &str, what: &str) -> Result<T, OpError> {
    if text.len() > LONGEST {
        return Err(OpError::type_error(format!("{what} is longer than {} MiB", LONGEST >> 20)));
    }
    if text == "null" {
        return Ok(T::default());
    }
    serde_json::from_str(text).map_err(|error| OpError::type_error(format!("{what} is not what it must be: {error}")))
}

impl<'de: 'a, 'a> Deserialize<'de> for Args<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Vec<&'de RawValue>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {MOST} arguments")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut read = Vec::new();
                while let Some(one) = list.next_element()? {
                    if read.len() == MOST {
                        return Err(serde::de::Error::invalid_length(MOST + 1, &self));
                    }
                    read.push(one);
                }
                Ok(read)
            }
        }
        deserializer.deserialize_seq(List).map(Args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_one_by_one() {
        let args = Args::read(r#" ["a\u0000", 7, true, null, {"x":[1]}, ["b"], -1.5]"#).unwrap();
        assert_eq!((args.text(0).unwrap().as_str(), args.number(1), args.flag(2)), ("a\0", 7, true));
        assert_eq!((args.optional_text(3), args.json(4).text()), (None, r#"{"x":[1]}"#));
        assert_eq!(args.decode::<Vec<String>>(5).unwrap(), ["b"]);
        assert_eq!((args.decode::<Vec<String>>(3).unwrap().len(), args.number(9), args.flag(1)), (0, 0, false));
        assert!((args.float(6) + 1.5).abs() < 1e-9);
        assert!(args.text(1).is_err() && args.decode::<Vec<String>>(0).is_err());
        assert!(Args::read("[1,2,3,4,5,6,7,8,9]").is_err() && Args::read("{}").is_err());
    }
}
