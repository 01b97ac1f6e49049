//! What rules may ask about where they are: which places decide which hooks run, and what a session has done.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::places::ProtectedPlaces;
use super::session_facts::{FactKind, SessionFacts};
use crate::rules::{PastAct, PastKind, Purpose, RuleSurroundings};

/// The surroundings of the rules of one configuration.
pub(crate) struct KnownSurroundings {
    pub(crate) places: Arc<ProtectedPlaces>,
    /// Where sessions are remembered; nowhere for a host that only tries events out.
    pub(crate) facts: Option<SessionFacts>,
}

/// What is remembered for rules.
const ACTS: [(FactKind, PastKind); 3] =
    [(FactKind::Read, PastKind::Read), (FactKind::Wrote, PastKind::Wrote), (FactKind::Ran, PastKind::Ran)];

impl RuleSurroundings for KnownSurroundings {
    fn protects(&self, path: &Path) -> bool {
        self.places.protects(path)
    }

    fn protects_below(&self, path: &Path) -> bool {
        self.places.protects_below(path)
    }

    fn past(&self, session: &str) -> Option<Vec<PastAct>> {
        let facts = self.facts.as_ref()?.read_whole(session)?;
        let now = unix_seconds();
        let acts = ACTS.into_iter().flat_map(|(fact, kind)| {
            let acts = facts.of_kind(fact).map(move |(what, at)| PastAct {
                kind,
                what: what.to_owned(),
                age: now.saturating_sub(at.unwrap_or_default()),
            });
            acts.collect::<Vec<_>>()
        });
        Some(acts.collect())
    }

    fn remember(&self, session: &str, acts: &[(PastKind, String)]) {
        let Some(store) = self.facts.as_ref().filter(|_| !acts.is_empty()) else { return };
        let now = unix_seconds();
        // What cannot be kept is not known to later events, and a rule that asks for it does not match.
        let _ = store.change(session, |facts| {
            for (kind, what) in acts {
                if let Some((fact, _)) = ACTS.into_iter().find(|(_, known)| known == kind) {
                    facts.add_at(fact, what, now);
                }
            }
        });
    }

    fn take_once(&self, session: &str, mark: &str, purpose: Purpose) -> bool {
        // Without a name nothing is remembered, so the mark could be taken again and again. A host that only tries events out takes none.
        if session.is_empty() {
            return self.facts.is_none();
        }
        // The same holds where the file of the session cannot be written.
        self.is_first(FactKind::Excepted, session, mark, purpose).unwrap_or(false)
    }

    fn first_run(&self, session: &str, mark: &str, purpose: Purpose) -> bool {
        self.is_first(FactKind::RanOnce, session, mark, purpose).unwrap_or(true)
    }
}

impl KnownSurroundings {
    /// Whether a session does not have a fact yet, which an event then adds.
    fn is_first(&self, kind: FactKind, session: &str, mark: &str, purpose: Purpose) -> io::Result<bool> {
        let Some(store) = self.facts.as_ref().filter(|_| !session.is_empty()) else { return Ok(true) };
        if purpose == Purpose::Explanation {
            return Ok(!store.read(session).has(kind, mark));
        }
        let mut is_first = false;
        store.change(session, |facts| {
            is_first = !facts.has(kind, mark);
            facts.add(kind, mark);
        })?;
        Ok(is_first)
    }
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs())
}
