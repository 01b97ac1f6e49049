//! `hookrail types`: types for hooks in TypeScript and Python, for editors and type checkers.

use hookrail_app::author::{TypesLanguage, TypesPlace, languages_of, write_types};
use hookrail_app::failure::Result;
use hookrail_app::project::Project;

use super::new::word;
use crate::args::TypesArgs;
use crate::cmd::exit::Exit;
use crate::output;

pub(crate) fn run(args: &TypesArgs) -> Result<Exit> {
    // With a language and a folder no project is looked at.
    let project = match (args.lang, &args.out) {
        (Some(_), Some(_)) => None,
        _ => Some(Project::open(&args.project)?),
    };
    let root = project.as_ref().map(Project::root);
    let languages: Vec<TypesLanguage> = match (args.lang, root) {
        (Some(language), _) => vec![language.into()],
        (None, root) => root.map(languages_of).unwrap_or_default(),
    };
    let place = args.out.as_deref().map(TypesPlace::Folder).or(root.map(TypesPlace::Project));
    let written = place.map(|place| write_types(place, &languages, args.force)).transpose()?.unwrap_or_default();
    output::text(
        &written.iter().map(|(path, change)| format!("{}  {}\n", word(*change), path.display())).collect::<String>(),
    )?;
    Ok(Exit::Fine)
}
