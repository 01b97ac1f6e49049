//! The page of attacks is the table of attacks.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use crate::attacks::table::{Attack, Standing};
use crate::attacks::{cases, commands, environment, files, granted, layers, links, modules, names, places, race};

/// Every chapter of the table, in the order of the page.
const CHAPTERS: &[(&str, &[Attack])] = &[
    (links::TITLE, links::ATTACKS),
    (layers::TITLE, layers::ATTACKS),
    (granted::TITLE, granted::ATTACKS),
    (commands::TITLE, commands::ATTACKS),
    (cases::TITLE, cases::ATTACKS),
    (places::TITLE, places::ATTACKS),
    (race::TITLE, race::ATTACKS),
    #[cfg(target_os = "linux")]
    (crate::attacks::sandbox::TITLE, crate::attacks::sandbox::ATTACKS),
    (files::TITLE, files::ATTACKS),
    (environment::TITLE, environment::ATTACKS),
    (modules::TITLE, modules::ATTACKS),
    (names::TITLE, names::ATTACKS),
];

const HEAD: &str = "<!-- Generated from crates/hookrail-cli/tests/it/attacks; \
HOOKRAIL_BLESS=1 cargo test -p hookrail-cli --test it attacks:: refreshes it. -->

# Attacks

Each row is a small repository that the tests build and then probe with the real binary: `list`, `check`, `explain`, `fire`
for several events, `trust status`, `trust grant` without a terminal, `plugin list`, `plugin doctor`, `test`, `serve --stdio`
and `agent --headless`. Its user has a guard in every layer and dialect: system, user, extension, installed plugin and module.

For every row it is asserted that

* nothing hostile is executed or imported, and `git` is never called;
* in a repository that was never granted no hook runs at all; in one that was, nothing runs but what was granted;
* every guard from outside runs to its end, and the system guard's deny counts;
* not one file is created, changed or removed, on either side of the repository's border;
* no command hangs, panics, or shows a character that a terminal would act on.

The last column says what is asserted in addition. The name of a row is the name of its test:
`cargo test -p hookrail-cli --test it attacks::NAME`.
";

fn page() -> String {
    let mut page = HEAD.to_owned();
    for (title, attacks) in CHAPTERS {
        let _ = write!(
            page,
            "\n## {title}\n\n| name | the repository | granted before | also asserted |\n|---|---|---|---|\n"
        );
        for attack in *attacks {
            let granted = if attack.standing == Standing::Granted { "yes" } else { "no" };
            let _ = writeln!(page, "| `{}` | {} | {granted} | {} |", attack.id, attack.about, attack.asserted);
        }
    }
    page
}

#[cfg(target_os = "linux")]
#[test]
fn the_page_is_the_table() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/evidence/attacks.md");
    if std::env::var_os("HOOKRAIL_BLESS").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, page()).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == page(), "docs/evidence/attacks.md is not current; HOOKRAIL_BLESS=1 refreshes it");
}

#[test]
fn every_attack_has_a_name_and_a_sentence_of_its_own() {
    let all: Vec<&Attack> = CHAPTERS.iter().flat_map(|(_, attacks)| attacks.iter()).collect();
    let names: BTreeSet<_> = all.iter().map(|attack| attack.id).collect();
    let sentences: BTreeSet<_> = all.iter().map(|attack| attack.about).collect();
    assert_eq!((names.len(), sentences.len()), (all.len(), all.len()));
    for attack in all {
        assert!(attack.about.ends_with('.') && attack.asserted.ends_with('.'), "{} is told in sentences", attack.id);
        assert!(!attack.about.contains('|') && !attack.asserted.contains('|'), "{} fits into a table", attack.id);
    }
}
