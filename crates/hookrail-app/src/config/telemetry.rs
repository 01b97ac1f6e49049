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

/// Reads the system's file, of which only `[telemetry]` counts; none if it has no such section. A file that cannot be used
/// exports nothing, because it may have been meant to keep the user's settings from exporting.
#[cfg(feature = "otel")]
pub fn system_telemetry(file: &Path, findings: &mut Vec<Diagnostic>) -> Option<TelemetrySettings> {
    let about = file.symlink_metadata().ok()?;
    let is_safe = about.is_file() && hookrail_spawn::is_ours_alone(&about);
    let mut read = ConfigFile { state: ConfigFileState::Broken, ..ConfigFile::default() };
    if is_safe {
        read = read_config_file(file);
    } else {
        let message = format!("`{}` is a link, or other users can change it", file.display());
        findings.push(Diagnostic::new(Code::SystemFileUnsafe, message).at(Location::whole_file(file)));
    }
    let is_broken = read.state == ConfigFileState::Broken;
    findings.extend(read.findings.drain(..).map(|finding| match finding.location {
        // What a broken file of the user means for modules is not true of this one.
        Some(place) if is_broken => Diagnostic::new(Code::TelemetryUnusable, finding.message).at(place),
        _ => finding,
    }));
    for other in read.values.iter().filter(|configured| configured.row.section != "telemetry") {
        let message = format!("`{}` can only be set in the user configuration", other.row.key);
        let finding = Diagnostic::new(Code::ConfigUserOnly, message).at(other.location.clone());
        findings.push(finding.hint("the system's file has one section, `[telemetry]`"));
    }
    let has_section = read.values.iter().any(|configured| configured.row.section == "telemetry");
    (is_broken || has_section).then(|| TelemetrySettings::new(&read))
}
