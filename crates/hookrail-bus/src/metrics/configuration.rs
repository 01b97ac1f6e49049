//! Gauges for the configuration of every open project, read when metrics are requested.

use std::fmt;
use std::sync::Weak;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

use crate::configuration::ConfigurationStatus;
use crate::projects::Projects;
use crate::watch::WatchMode;

/// Collects the gauges for configuration. Their number grows with the open projects, which are limited.
pub(super) struct Configurations(Weak<Projects>);

/// A gauge: its name, its help, and its value.
type GaugeOf = (&'static str, &'static str, fn(&ConfigurationStatus) -> f64);

const GAUGES: [GaugeOf; 4] = [
    ("configuration_revision", "How often configuration was put in force", |status| status.revision as f64),
    ("configuration_age_seconds", "How long ago it was put in force", |status| status.age.as_secs_f64()),
    ("configuration_kept_sources", "Sources whose last good version is in force", |status| status.kept.len() as f64),
    ("system_unusable", "Whether the system layer denies every gating event because it cannot be used", |status| {
        f64::from(u8::from(status.system_unusable))
    }),
];

impl Configurations {
    pub(super) fn new(projects: Weak<Projects>) -> Self {
        Self(projects)
    }
}

impl Collector for Configurations {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Some(projects) = self.0.upgrade() else { return Ok(()) };
        let open = projects.configurations();
        for (name, help, value) in GAUGES {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (directory, status) in &open {
                let labels = [("project", directory.to_string_lossy())];
                ConstGauge::new(value(status)).encode(family.encode_family(&labels)?)?;
            }
        }
        let help = "How changes of configuration are noticed";
        let mut family = encoder.encode_descriptor("watch", help, None, MetricType::Gauge)?;
        for mode in WatchMode::ALL.iter().copied() {
            let value = f64::from(u8::from(mode == projects.mode()));
            ConstGauge::new(value).encode(family.encode_family(&[("mode", mode.name())])?)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Configurations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Configurations").finish_non_exhaustive()
    }
}
