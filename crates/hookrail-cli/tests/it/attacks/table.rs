//! What an attack is, and how a table of them becomes tests and a page of documentation.

use crate::attacks::lab::{Lab, Seen};

/// One attack.
pub(crate) struct Attack {
    /// Its name, which is also the name of its test.
    pub(crate) id: &'static str,
    /// What the repository does, in one sentence.
    pub(crate) about: &'static str,
    /// What is asserted beyond what holds for all of them.
    pub(crate) asserted: &'static str,
    /// Whether its user ever granted anything of it.
    pub(crate) standing: Standing,
    /// Makes the repository.
    pub(crate) build: fn(&Lab),
    /// Looks at what the commands said.
    pub(crate) check: fn(&Lab, &Seen),
}

/// What the user has said about the repository before the attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing at all, so not one of its hooks may run.
    Stranger,
    /// Something was granted, and the attack is what came afterwards: what was granted may run, and nothing else.
    Granted,
}

impl Attack {
    /// Builds the repository, lets every command look at it, and checks what came of it.
    pub(crate) fn run(&self) {
        let lab = Lab::new();
        (self.build)(&lab);
        let seen = lab.probe(self.standing);
        (self.check)(&lab, &seen);
    }
}

/// Declares attacks: the table, and one test for each.
macro_rules! attacks {
    ($title:literal; $($id:ident $standing:ident {
        $about:literal
        => $asserted:literal
        $build:expr
        $(, then $check:expr)?
    })+) => {
        /// What these attacks have in common.
        pub(crate) const TITLE: &str = $title;

        pub(crate) const ATTACKS: &[$crate::attacks::table::Attack] = &[$($crate::attacks::table::Attack {
            id: stringify!($id),
            about: $about,
            asserted: $asserted,
            standing: $crate::attacks::table::Standing::$standing,
            build: $build,
            check: attacks!(@check $($check)?),
        }),+];

        $(#[test]
        fn $id() {
            ATTACKS.iter().find(|attack| attack.id == stringify!($id)).unwrap().run();
        })+
    };
    (@check) => { |_, _| {} };
    (@check $check:expr) => { $check };
}

pub(crate) use attacks;
