//! Telemetry of the commands that run for long. Other commands never come here, so they cannot export.

use hookrail::{Builder, Code, Diagnostic};
use hookrail_journal::Journal;

use crate::config::TelemetrySettings;
use crate::features::how_to_get;
use crate::journal::CallerJournal;

/// The telemetry of a command; none if it is not configured, or cannot be used.
#[derive(Clone, Debug, Default)]
pub struct CommandTelemetry {
    #[cfg(feature = "otel")]
    running: Option<export::RunningTelemetry>,
}

impl CommandTelemetry {
    /// Starts what is configured. What cannot be used is added to the findings, and nothing is exported then: hooks work all the
    /// same.
    pub fn start(settings: &TelemetrySettings, findings: &mut Vec<Diagnostic>) -> Self {
        #[cfg(feature = "otel")]
        {
            Self { running: export::start(settings, findings) }
        }
        #[cfg(not(feature = "otel"))]
        {
            findings.extend(unusable_setting(settings));
            Self::default()
        }
    }

    /// Makes a hook system export what it does, after the journal has recorded it.
    pub fn attach(&self, builder: Builder, journal: Option<&Journal>, host: &str) -> Builder {
        #[cfg(feature = "otel")]
        if let Some(running) = &self.running {
            return running.attach(builder, journal, host);
        }
        let _ = (journal, host);
        builder
    }

    /// Makes a hook system for a caller export what it does, after its record is prepared. Its number is not known here.
    pub fn attach_for_caller(&self, builder: Builder, journal: Option<&CallerJournal>, host: &str) -> Builder {
        #[cfg(feature = "otel")]
        if let (Some(running), Some(journal)) = (&self.running, journal) {
            return running.attach_for_caller(builder, journal.clone(), host);
        }
        match journal {
            Some(_) => builder,
            None => self.attach(builder, None, host),
        }
    }

    /// Exports what is left, and returns what the user has to know about what was lost. It returns in time whatever the
    /// collector does.
    pub fn finish(&self) -> Option<String> {
        #[cfg(feature = "otel")]
        if let Some(running) = &self.running {
            return running.finish();
        }
        None
    }
}

/// What is wrong with settings that this build cannot honour, whatever they say. It is known before a command exports.
pub fn unusable_setting(settings: &TelemetrySettings) -> Option<Diagnostic> {
    let (_, place) = settings.endpoint.as_ref().filter(|_| !cfg!(feature = "otel"))?;
    let message = "telemetry is configured, and this program cannot export it";
    let finding = Diagnostic::new(Code::TelemetryUnusable, message).at(place.clone());
    Some(finding.hint(format!("{}, or remove the setting", how_to_get("otel"))))
}

#[cfg(feature = "otel")]
mod export {
    use std::path::Path;
    use std::time::Duration;

    use hookrail::recorder::{Entry, Recorder as _};
    use hookrail::sources::Location;
    use hookrail_otel::{
        CollectorEndpoint, CollectorHeaders, InputExport, Signals, Telemetry, TelemetryEnd, TelemetryOptions,
    };

    use super::{Builder, CallerJournal, Code, Diagnostic, Journal, TelemetrySettings};
    use crate::config::{system_files, system_telemetry};
    use crate::text::counted;

    #[derive(Clone, Debug)]
    pub(super) struct RunningTelemetry {
        telemetry: Telemetry,
        shutdown: Duration,
    }

    pub(super) fn start(settings: &TelemetrySettings, findings: &mut Vec<Diagnostic>) -> Option<RunningTelemetry> {
        // The system's settings count as a whole: a user who adds `inputs = true` must not send inputs to the collector of
        // the system.
        let of_system = system_files().iter().find_map(|file| system_telemetry(file, findings));
        let settings = of_system.as_ref().unwrap_or(settings);
        let (endpoint, place) = settings.endpoint.as_ref()?;
        match options(settings, endpoint, place).and_then(|options| {
            Telemetry::start(options).map_err(|error| {
                unusable(format!("the thread that exports cannot be started: {error}"), place)
                    .hint("the system may be out of threads or memory")
            })
        }) {
            Ok(telemetry) => Some(RunningTelemetry { telemetry, shutdown: settings.shutdown }),
            Err(finding) => {
                findings.push(finding);
                None
            }
        }
    }

    fn unusable(message: String, place: &Location) -> Diagnostic {
        Diagnostic::new(Code::TelemetryUnusable, message).at(place.clone())
    }

    fn options(
        settings: &TelemetrySettings,
        endpoint: &str,
        place: &Location,
    ) -> std::result::Result<TelemetryOptions, Diagnostic> {
        let endpoint = CollectorEndpoint::parse(endpoint).map_err(|problem| {
            unusable(format!("`endpoint` cannot be used: {problem}"), place)
                .hint("write the base address of a collector, such as \"http://127.0.0.1:4318\"")
        })?;
        let headers = match &settings.headers {
            Some((file, place)) => read_headers(file, place)?,
            None => CollectorHeaders::default(),
        };
        let signals =
            Signals { traces: settings.exports_traces, logs: settings.exports_logs, metrics: settings.exports_metrics };
        let inputs = if settings.exports_inputs { InputExport::On } else { InputExport::Off };
        let options = TelemetryOptions::new(endpoint)
            .headers(headers)
            .signals(signals)
            .inputs(inputs)
            .sample_percent(settings.sample_percent);
        Ok(match host_name() {
            Some(name) => options.resource("host.name", name),
            None => options,
        })
    }

    fn read_headers(file: &Path, place: &Location) -> std::result::Result<CollectorHeaders, Diagnostic> {
        CollectorHeaders::read(file).map_err(|error| {
            let help = error.help();
            unusable(format!("the headers cannot be used: {error}"), place).hint(help)
        })
    }

    fn host_name() -> Option<String> {
        #[cfg(unix)]
        {
            Some(rustix::system::uname().nodename().to_string_lossy().into_owned())
        }
        #[cfg(not(unix))]
        {
            std::env::var("COMPUTERNAME").ok()
        }
    }

    impl RunningTelemetry {
        pub(super) fn attach(&self, builder: Builder, journal: Option<&Journal>, host: &str) -> Builder {
            let builder = builder.host_identity(host, env!("CARGO_PKG_VERSION"));
            match journal {
                None => builder.recorder(self.telemetry.clone()),
                Some(journal) => {
                    let (interest, journal) = (journal.interest(), journal.clone());
                    builder.recorder(self.telemetry.after(interest, move |entry| {
                        journal.record_numbered(entry).map(|(recorded, number)| (recorded, Some(number)))
                    }))
                }
            }
        }

        pub(super) fn attach_for_caller(&self, builder: Builder, journal: CallerJournal, host: &str) -> Builder {
            let builder = builder.host_identity(host, env!("CARGO_PKG_VERSION"));
            let interest = journal.interest();
            let record = move |entry: &Entry<'_>| journal.record(entry).map(|recorded| (recorded, None));
            builder.recorder(self.telemetry.after(interest, record))
        }

        pub(super) fn finish(&self) -> Option<String> {
            let report = self.telemetry.shutdown(self.shutdown);
            if report.end == TelemetryEnd::Flushed && report.dropped == 0 {
                return None;
            }
            let dropped = counted(usize::try_from(report.dropped).unwrap_or(usize::MAX), "record");
            Some(format!("telemetry: {}; {dropped} dropped", report.end))
        }
    }
}
