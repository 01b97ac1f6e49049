//! Writing an object of values that exist already, as the bytes a hook receives.

use std::sync::Arc;

use super::Json;

/// Writes an object whose values exist already, without parsing or copying them more than once: for an event of many
/// megabytes every further copy costs as much as the hook.
pub(crate) struct ObjectWriter {
    text: Vec<u8>,
    /// Values, and where in the text they belong.
    values: Vec<(usize, Json)>,
}

impl ObjectWriter {
    pub(crate) fn new() -> Self {
        let mut text = Vec::with_capacity(512);
        text.push(b'{');
        Self { text, values: Vec::new() }
    }

    /// Adds a member that is text.
    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        self.string(value);
    }

    /// Adds a member. The caller sees to it that no key comes twice.
    pub(crate) fn value(&mut self, key: &str, value: Json) {
        self.key(key);
        self.values.push((self.text.len(), value));
    }

    /// Ends the object.
    pub(crate) fn finish(mut self) -> WrittenObject {
        self.text.push(b'}');
        WrittenObject(self)
    }

    fn key(&mut self, key: &str) {
        if self.text.len() > 1 {
            self.text.push(b',');
        }
        self.string(key);
        self.text.push(b':');
    }

    fn string(&mut self, text: &str) {
        // Writing text to a list of bytes cannot fail.
        let _ = serde_json::to_writer(&mut self.text, text);
    }
}

/// An object that was written, in pieces: what is large in it is not copied before it is needed whole.
pub(crate) struct WrittenObject(ObjectWriter);

impl WrittenObject {
    /// How many bytes it has.
    pub(crate) fn len(&self) -> usize {
        self.0.values.iter().map(|(_, value)| value.text().len()).sum::<usize>() + self.0.text.len()
    }

    /// The pieces in order.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.0.values.iter().map(|(at, _)| *at));
        let ends = self.0.values.iter().map(|(at, _)| *at).chain([self.0.text.len()]);
        let texts = starts.zip(ends).map(|(from, to)| self.0.text.get(from..to).unwrap_or_default());
        let values = self.0.values.iter().map(|(_, value)| value.text().as_bytes()).chain([&[] as &[u8]]);
        texts.zip(values).flat_map(|(text, value)| [text, value])
    }

    /// The whole of it.
    pub(crate) fn whole(&self) -> Arc<[u8]> {
        // The room is made first and then written to, because a shared slice cannot be made from a list in place.
        let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, self.len()).collect();
        if let Some(mut room) = Arc::get_mut(&mut bytes) {
            for piece in self.pieces() {
                room = put(room, piece);
            }
        }
        bytes
    }
}

/// Writes to the front of a room, and gives back what is left of it.
fn put<'r>(room: &'r mut [u8], bytes: &[u8]) -> &'r mut [u8] {
    let (front, rest) = room.split_at_mut(bytes.len().min(room.len()));
    front.copy_from_slice(bytes.get(..front.len()).unwrap_or_default());
    rest
}
