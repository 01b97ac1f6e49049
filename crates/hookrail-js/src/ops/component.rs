//! Components that a module draws, as the module tells of them.

use serde::Deserialize;

use super::{Answer, OpError};
use crate::component::State;
use crate::shared::{Shared, Shown};

/// What a component takes that is shown.
const COMPONENT: usize = 512;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum ComponentOp {
    /// There is a component of this number now.
    Made { id: u32 },
    /// It wants to be drawn again.
    Changed { id: u32 },
    /// It is done.
    Done { id: u32 },
}

impl ComponentOp {
    pub(super) fn run(self, shared: &Shared) -> Result<Answer, OpError> {
        match self {
            Self::Made { id } => {
                let (state, _) = tokio::sync::watch::channel(State::Shown(0));
                let held = shared.hold(COMPONENT).ok_or_else(OpError::over_memory)?;
                shared.components.lock().insert(id, Shown { state, _held: held });
            }
            Self::Changed { id } => {
                if let Some(shown) = shared.components.lock().get(&id) {
                    shown.state.send_modify(|state| {
                        if let State::Shown(count) = state {
                            *count += 1;
                        }
                    });
                }
            }
            Self::Done { id } => {
                if let Some(shown) = shared.components.lock().remove(&id) {
                    shown.state.send_replace(State::Done);
                }
            }
        }
        Ok(Answer::nothing())
    }
}
