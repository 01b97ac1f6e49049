//! The input of a hook.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::json::WrittenObject;

/// What a hook receives on its standard input, or as its argument. It can be used like a slice of bytes.
///
/// It is assembled when it is first needed as a whole, and only once. Clones share the result.
#[derive(Clone)]
pub struct RunInput(Arc<InputData>);

struct InputData {
    written: Option<WrittenObject>,
    whole: OnceLock<Arc<[u8]>>,
}

impl RunInput {
    /// How many bytes it has.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0.written {
            Some(written) => written.len(),
            None => self.shared().len(),
        }
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole of it.
    #[must_use]
    pub fn shared(&self) -> &Arc<[u8]> {
        self.0.whole.get_or_init(|| self.0.written.as_ref().map_or_else(Arc::default, WrittenObject::whole))
    }
}

impl Deref for RunInput {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.shared()
    }
}

impl fmt::Debug for RunInput {
    /// Does not show the content, which may be large and secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunInput({} bytes)", self.len())
    }
}

impl From<Arc<[u8]>> for RunInput {
    fn from(whole: Arc<[u8]>) -> Self {
        Self(Arc::new(InputData { written: None, whole: OnceLock::from(whole) }))
    }
}

impl From<WrittenObject> for RunInput {
    fn from(written: WrittenObject) -> Self {
        Self(Arc::new(InputData { written: Some(written), whole: OnceLock::new() }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::RunInput;
    use crate::json::{Json, ObjectWriter};

    #[test]
    fn the_length_is_that_of_the_whole() {
        let mut writer = ObjectWriter::new();
        writer.text("a", "\"");
        writer.value("b", Json::empty_object());
        writer.value("c", Json::string("x"));
        writer.text("d", "");
        let texts = [RunInput::from(writer.finish()), RunInput::from(ObjectWriter::new().finish())];
        for (input, text) in texts.iter().zip([r#"{"a":"\"","b":{},"c":"x","d":""}"#, "{}"]) {
            assert_eq!((&**input, input.len()), (text.as_bytes(), text.len()));
            let whole = RunInput::from(Arc::clone(input.shared()));
            assert_eq!(&*whole, text.as_bytes());
        }
    }
}
