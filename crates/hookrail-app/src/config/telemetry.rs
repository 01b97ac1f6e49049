//! The settings of telemetry.

#[cfg(feature = "otel")]
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use hookrail::sources::Location;
#[cfg(feature = "otel")]
use hookrail::{Code, Diagnostic};

use super::read::ConfigFile;
#[cfg(feature = "otel")]
use super::read::{ConfigFileState, read_config_file};
#[cfg(feature = "otel")]
use super::system::unsafe_file;
use super::table::Setting;

/// The settings of telemetry. The crate that exports is not part of every build, so that they are plain values here.
#[derive(Clone, Debug)]
pub struct TelemetrySettings {
    /// The collector, and the place of the setting. Without it nothing is exported.
    pub endpoint: Option<(String, Location)>,
    pub headers: Option<(PathBuf, Location)>,
    pub exports_inputs: bool,
    pub sample_percent: u8,
    pub exports_traces: bool,
    pub exports_logs: bool,
    pub exports_metrics: bool,
    pub shutdown: Duration,
}

impl TelemetrySettings {
    pub fn new(file: &ConfigFile) -> Self {
        let flag = |setting, default| file.flag(setting).unwrap_or(default);
        let percent = file.number(Setting::TelemetrySample).unwrap_or(100);
        Self {
            endpoint: file.url(Setting::TelemetryEndpoint).zip(file.location(Setting::TelemetryEndpoint)),
            headers: file.path(Setting::TelemetryHeaders).zip(file.location(Setting::TelemetryHeaders)),
            exports_inputs: flag(Setting::TelemetryInputs, false),
            sample_percent: u8::try_from(percent).unwrap_or(100),
            exports_traces: flag(Setting::TelemetryTraces, true),
            exports_logs: flag(Setting::TelemetryLogs, true),
            exports_metrics: flag(Setting::TelemetryMetrics, true),
            shutdown: Duration::from_millis(file.number(Setting::TelemetryShutdown).unwrap_or(2000)),
        }
    }
}

/// Reads the settings of telemetry in the system's file; none if it has no such section. A file that cannot be used exports
/// nothing, because it may have been meant to keep the user's settings from exporting.
#[cfg(feature = "otel")]
pub fn system_telemetry(file: &Path, findings: &mut Vec<Diagnostic>) -> Option<TelemetrySettings> {
    file.symlink_metadata().ok()?;
    let unsafe_file = unsafe_file(file);
    let mut read = ConfigFile { state: ConfigFileState::Broken, ..ConfigFile::default() };
    if unsafe_file.is_none() {
        read = read_config_file(file);
    }
    findings.extend(unsafe_file);
    let is_broken = read.state == ConfigFileState::Broken;
    // What is wrong with a file that can be used is reported with the configuration.
    for finding in read.findings.drain(..).filter(|_| is_broken) {
        let unusable = Diagnostic::new(Code::TelemetryUnusable, finding.message);
        findings.extend(finding.location.map(|place| unusable.at(place)));
    }
    let has_section = read.values.iter().any(|configured| configured.row.section == "telemetry");
    (is_broken || has_section).then(|| TelemetrySettings::new(&read))
}
