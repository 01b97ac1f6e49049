//! The accesses of a shell line.

use hookrail_shell::Accesses;

use super::scene::RuleScene;

/// What a line would do in a directory.
#[cfg(feature = "syntax")]
pub(crate) fn accesses_of_line(line: &str, cwd: &str, scene: &RuleScene) -> Accesses {
    use hookrail_shell::{CommandSurroundings, Scene, accesses, parse};

    use super::file_system_links::{FileSystemLinks, NoLinks};
    use super::scene::Links;

    let (links, none) = (FileSystemLinks::new(scene.programs.clone()), NoLinks(&scene.programs));
    let surroundings: &dyn CommandSurroundings = match scene.links {
        Links::Followed => &links,
        Links::Ignored => &none,
    };
    let home = scene.home.as_deref().unwrap_or_default();
    accesses(&parse(line), &Scene { project: &scene.project, cwd, home, surroundings })
}

/// Without the feature `syntax` no line is understood.
#[cfg(not(feature = "syntax"))]
pub(crate) fn accesses_of_line(line: &str, _cwd: &str, _scene: &RuleScene) -> Accesses {
    use hookrail_shell::{FactSet, FaultKind, Span, Unknown, Why};

    let span = Span::new(0, line.len());
    let unknown = |why| Unknown { why, facts: FactSet::EVERYTHING, span };
    Accesses {
        unknown: vec![unknown(Why::Fault(FaultKind::Syntax)), unknown(Why::FormNotKnown)],
        ..Accesses::default()
    }
}
