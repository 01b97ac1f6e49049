//! The accesses of a shell line.

use hookrail_shell::Accesses;

use super::scene::RuleScene;

/// What a line would do in a directory.
#[cfg(feature = "syntax")]
pub(crate) fn accesses_of_line(line: &str, cwd: &str, scene: &RuleScene) -> Accesses {
    use hookrail_shell::{CommandSurroundings, Scene, accesses, parse};

    use super::file_system_links::FileSystemLinks;
    use super::scene::Links;

    let links = FileSystemLinks::new(scene.programs.clone());
    let surroundings: &dyn CommandSurroundings = match scene.links {
        Links::Followed => &links,
        Links::Ignored => &(),
    };
    let home = scene.home.as_deref().unwrap_or_default();
    accesses(&parse(line), &Scene { project: &scene.project, cwd, home, surroundings })
}

/// Without the feature `syntax` no line is understood.
#[cfg(not(feature = "syntax"))]
pub(crate) fn accesses_of_line(line: &str, _cwd: &str, _scene: &RuleScene) -> Accesses {
    use hookrail_shell::{FactSet, FaultKind, Span, Unknown, Why};

    let why = Why::Fault(FaultKind::Syntax);
    let unknown = Unknown { why, facts: FactSet::EVERYTHING, span: Span::new(0, line.len()) };
    Accesses { unknown: vec![unknown], ..Accesses::default() }
}
