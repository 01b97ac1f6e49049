//! Operations on components that a module draws.

use serde::Deserialize;
use tokio::sync::watch;

use super::{OpAnswer, OpError};
use crate::component::ComponentState;
use crate::shared::{Shared, ShownComponent};

/// The number of bytes that are counted for a shown component.
const COMPONENT_MEMORY: usize = 512;

/// A component was made, wants to be drawn again, or is done.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum ComponentOp {
    Made { id: u32 },
    Changed { id: u32 },
    Done { id: u32 },
}

impl ComponentOp {
    pub(super) fn run(self, shared: &Shared) -> Result<OpAnswer, OpError> {
        match self {
            Self::Made { id } => {
                let held = shared.hold_memory(COMPONENT_MEMORY).ok_or_else(OpError::over_memory)?;
                let state = watch::Sender::new(ComponentState::Shown(0));
                shared.state().components.insert(id, ShownComponent { state, _held: held });
            }
            Self::Changed { id } => {
                if let Some(shown) = shared.state().components.get(&id) {
                    shown.state.send_modify(|state| {
                        if let ComponentState::Shown(count) = state {
                            *count += 1;
                        }
                    });
                }
            }
            Self::Done { id } => {
                if let Some(shown) = shared.state().components.remove(&id) {
                    shown.state.send_replace(ComponentState::Done);
                }
            }
        }
        Ok(OpAnswer::nothing())
    }
}
