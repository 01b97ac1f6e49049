//! The reason why a command failed: a sentence, an optional excerpt of what is wrong, and hints.
//!
//! Outcomes of hooks are not failures.

/// The reason why a command failed.
#[derive(Debug)]
pub struct Failure {
    message: String,
    excerpt: Option<Box<Excerpt>>,
    hints: Vec<String>,
}

/// What a failure shows below its sentence.
#[derive(Clone, Debug)]
pub enum Excerpt {
    /// A place in a text, such as an option's value.
    Place {
        /// What the text is called.
        name: String,
        /// The whole text.
        text: String,
        /// The byte at which it is wrong.
        offset: usize,
    },
    /// Sentences, one on a line.
    Sentences(Vec<String>),
}

/// The result of a step of a command.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Makes a failure from a sentence that is printed after `error: `.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), excerpt: None, hints: Vec::new() }
    }

    /// Returns the sentence alone, for callers that report it in their own way.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the first hint, for callers that report it in their own way.
    pub fn first_hint(&self) -> Option<&str> {
        self.hints.first().map(String::as_str)
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds the text that is wrong and the place in it.
    #[must_use]
    pub fn excerpt(mut self, excerpt: Excerpt) -> Self {
        self.excerpt = Some(Box::new(excerpt));
        self
    }

    /// Returns the text that is wrong, if the failure shows one.
    pub fn wrong_text(&self) -> Option<&Excerpt> {
        self.excerpt.as_deref()
    }

    /// Returns all hints.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}
