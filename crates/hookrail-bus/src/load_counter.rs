//! The counter of readings of configuration, which the open projects increase and the metrics show.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use crate::configuration::{LoadResult, Trigger};

/// The reason for a reading and its result.
type LoadLabels = [(&'static str, &'static str); 2];

/// Counts how often configuration was read, and with which result.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadCounter(pub(crate) Family<LoadLabels, Counter>);

impl LoadCounter {
    pub(crate) fn opened(&self, result: LoadResult) {
        self.0.get_or_create(&[("trigger", "open"), ("result", result.name())]).inc();
    }

    pub(crate) fn reloaded(&self, trigger: Trigger, result: LoadResult) {
        self.0.get_or_create(&[("trigger", trigger.name()), ("result", result.name())]).inc();
    }
}
