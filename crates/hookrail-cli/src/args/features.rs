//! Features that this build lacks: it knows their commands and settings, and says how to get them.

use clap::error::{ContextKind, ContextValue};
use hookrail_app::failure::Failure;
use hookrail_app::features::how_to_get;

/// Every word of a command line that needs a feature, with the feature and whether this build has it.
const WORDS: [(&str, &str, bool); 4] = [
    ("fleet", "fleet", cfg!(feature = "fleet")),
    ("bundle", "fleet", cfg!(feature = "fleet")),
    ("--nats", "fleet", cfg!(feature = "fleet")),
    ("inspect", "inspect", cfg!(feature = "inspect")),
];

/// The failure of a command line that asks for a feature which this build lacks.
pub(crate) fn missing_feature(error: &clap::Error) -> Option<Failure> {
    let given = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg].into_iter().find_map(|kind| {
        let ContextValue::String(word) = error.get(kind)? else { return None };
        word.split(['=', ' ']).next()
    })?;
    let (word, feature, _) = WORDS.iter().find(|(word, _, has_it)| *word == given && !has_it)?;
    let message = format!("`{word}` is not a part of this build of hookrail: it needs the feature `{feature}`");
    Some(Failure::new(message).hint(how_to_get(feature)))
}
