//! A gauge that the program around the bus adds.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

pub(super) struct AddedGauge {
    name: &'static str,
    help: &'static str,
    read: Box<dyn Fn() -> Option<f64> + Send + Sync>,
}

impl AddedGauge {
    pub(super) fn new(
        name: &'static str,
        help: &'static str,
        read: impl Fn() -> Option<f64> + Send + Sync + 'static,
    ) -> Self {
        Self { name, help, read: Box::new(read) }
    }
}

impl Collector for AddedGauge {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Some(value) = (self.read)() else { return Ok(()) };
        let gauge = ConstGauge::new(value);
        gauge.encode(encoder.encode_descriptor(self.name, self.help, None, MetricType::Gauge)?)
    }
}

impl fmt::Debug for AddedGauge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddedGauge").field("name", &self.name).finish_non_exhaustive()
    }
}
