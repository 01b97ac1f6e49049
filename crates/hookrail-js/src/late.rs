//! Handlers that a module registers after its factory has ended.
//!
//! The engine asks a module in the events that its inspection found. A module that registers a handler later is asked in
//! its event from then on: the next inspection has the event too, and the engine is told to make one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use hookrail_spawn::lock_mutex;

/// Called when a module registers a handler after it was inspected.
pub(crate) type LateListener = Arc<dyn Fn() + Send + Sync>;

/// The handlers of one module that were registered late.
#[derive(Default)]
pub(crate) struct LateHandlers {
    /// The events, each with the instance that registered last.
    events: Mutex<BTreeMap<String, u32>>,
    /// The events in which the engine asks the module since its last inspection.
    inspected: Mutex<Vec<String>>,
    listener: Mutex<Option<LateListener>>,
}

impl LateHandlers {
    /// Handlers of which no host is told, for an inspection.
    pub(crate) fn unheard() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn heard_by(listener: Option<LateListener>) -> Arc<Self> {
        Arc::new(Self { listener: Mutex::new(listener), ..Self::default() })
    }

    pub(crate) fn set_listener(&self, listener: &LateListener) {
        *lock_mutex(&self.listener) = Some(Arc::clone(listener));
    }

    /// Records the events that an inspection found.
    pub(crate) fn set_inspected(&self, events: &[String]) {
        *lock_mutex(&self.inspected) = events.to_vec();
    }

    /// Records a registration of an instance, and tells the listener if the engine does not know of the event.
    pub(crate) fn add(&self, event: &str, generation: u32) {
        let is_first = lock_mutex(&self.events).insert(event.to_owned(), generation).is_none();
        let is_new = is_first && !lock_mutex(&self.inspected).iter().any(|known| known == event);
        let listener = lock_mutex(&self.listener).clone();
        if let Some(listener) = listener.filter(|_| is_new) {
            listener();
        }
    }

    pub(crate) fn events(&self) -> Vec<String> {
        lock_mutex(&self.events).keys().cloned().collect()
    }

    /// Whether the handler for an event went with another instance than this one.
    pub(crate) fn is_lost(&self, event: &str, generation: u32) -> bool {
        lock_mutex(&self.events).get(event).is_some_and(|registered| *registered != generation)
    }

    /// Forgets the events that a new version of the module registers in its factory.
    pub(crate) fn settle(&self, registered: &[String]) {
        lock_mutex(&self.events).retain(|event, _| !registered.contains(event));
    }
}
