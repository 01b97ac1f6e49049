//! Items as spans and log records. It runs on the exporting thread.

use std::collections::VecDeque;
use std::time::SystemTime;

use hookrail::outcome::Health;
use hookrail::{Decision, EventKind};
use prost::Message as _;

use crate::item::{
    AnsweredItem, FiredItem, Item, JournalPlace, LateItem, RunItem, RunRole, nanoseconds, nanoseconds_of,
};
use crate::metrics::decision_name;
use crate::options::{Signal, TelemetryOptions};
use crate::proto::{
    AnyValue, InstrumentationScope, KeyValue, LogRecord, LogsRequest, Metric, MetricsRequest, Resource, ResourceLogs,
    ResourceMetrics, ResourceSpans, ScopeLogs, ScopeMetrics, ScopeSpans, Severity, Span, SpanKind, Status, StatusCode,
    TracesRequest, Value, attribute, text,
};
use crate::trace::{ParentSpan, Sampling, SpanId, TraceId, new_span_id, new_trace_id, sample};

/// The most events whose spans are remembered for hooks that end later.
const REMEMBERED: usize = 1024;

/// The most characters of a hook's name. A hook without a name is called by its command, which may be long.
const LONGEST_NAME: usize = 200;

/// The trace flags: sampled.
const SAMPLED: u32 = 1;

/// One request to the collector.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) signal: Signal,
    pub(crate) body: Vec<u8>,
    /// How many spans or log records it holds.
    pub(crate) records: u64,
}

/// Makes spans and log records.
pub(crate) struct Encoder {
    resource: Resource,
    sample_percent: u8,
    remembered: VecDeque<(String, FireSpan)>,
}

/// The span of an event.
#[derive(Clone, Copy, Debug)]
struct FireSpan {
    trace: TraceId,
    span: SpanId,
    parent: Option<SpanId>,
    sampling: Sampling,
}

impl FireSpan {
    /// Returns a span under that of the host, or one that begins a trace.
    fn new(traceparent: Option<&str>, percent: u8) -> Self {
        let span = new_span_id();
        match traceparent.and_then(ParentSpan::parse) {
            Some(ParentSpan { trace, span: parent, sampling }) => Self { trace, span, parent: Some(parent), sampling },
            None => {
                let trace = new_trace_id();
                Self { trace, span, parent: None, sampling: sample(&trace, percent) }
            }
        }
    }

    fn flags(self) -> u32 {
        match self.sampling {
            Sampling::Sampled => SAMPLED,
            Sampling::NotSampled => 0,
        }
    }
}

impl Encoder {
    pub(crate) fn new(options: &TelemetryOptions) -> Self {
        let mut attributes: Vec<KeyValue> =
            options.resource.iter().map(|(name, value)| text(name, value.as_str())).collect();
        if !options.resource.iter().any(|(name, _)| name == "service.instance.id") {
            let instance = u128::from_be_bytes(new_trace_id());
            attributes.push(text("service.instance.id", format!("{instance:032x}")));
        }
        Self { resource: Resource { attributes }, sample_percent: options.sample_percent, remembered: VecDeque::new() }
    }

    /// Returns the requests that export the items.
    pub(crate) fn payloads(&mut self, items: Vec<Item>) -> Vec<Payload> {
        let (mut spans, mut logs) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                Item::Fired(fired) => self.add_fired(&fired, &mut spans, &mut logs),
                Item::Late(late) => self.add_late(&late, &mut spans),
                Item::Answered(answered) => logs.push(self.answer(&answered)),
            }
        }
        let mut payloads = Vec::new();
        if !spans.is_empty() {
            let records = spans.len() as u64;
            let scope_spans = vec![ScopeSpans { scope: Some(scope()), spans }];
            let request =
                TracesRequest { resource_spans: vec![ResourceSpans { resource: self.resource(), scope_spans }] };
            payloads.push(Payload { signal: Signal::Traces, body: request.encode_to_vec(), records });
        }
        if !logs.is_empty() {
            let records = logs.len() as u64;
            let scope_logs = vec![ScopeLogs { scope: Some(scope()), log_records: logs }];
            let request = LogsRequest { resource_logs: vec![ResourceLogs { resource: self.resource(), scope_logs }] };
            payloads.push(Payload { signal: Signal::Logs, body: request.encode_to_vec(), records });
        }
        payloads
    }

    /// Returns the request that exports metrics.
    pub(crate) fn metrics(&self, metrics: Vec<Metric>) -> Payload {
        let scope_metrics = vec![ScopeMetrics { scope: Some(scope()), metrics }];
        let request =
            MetricsRequest { resource_metrics: vec![ResourceMetrics { resource: self.resource(), scope_metrics }] };
        Payload { signal: Signal::Metrics, body: request.encode_to_vec(), records: 0 }
    }

    fn resource(&self) -> Option<Resource> {
        Some(self.resource.clone())
    }

    fn add_fired(&mut self, fired: &FiredItem, spans: &mut Vec<Span>, logs: &mut Vec<LogRecord>) {
        let fire = FireSpan::new(fired.trace.as_deref(), self.sample_percent);
        self.remember(fired.fire.clone(), fire);
        let end = fired.at.saturating_add(nanoseconds_of(fired.duration));
        let attributes = fire_attributes(fired);
        logs.push(decision_log(fired, fire, end, attributes.clone()));
        if fire.sampling == Sampling::NotSampled {
            return;
        }
        let mut span = new_span(fire, fire.span, fire.parent, format!("hookrail.fire {}", fired.event.name()));
        (span.start_time_unix_nano, span.end_time_unix_nano) = (fired.at, end);
        span.attributes = attributes;
        if let Some(content) = &fired.content {
            span.attributes.push(text("hookrail.project", content.project.as_str()));
            span.attributes.push(text("hookrail.input", content.input.as_str()));
        }
        spans.push(span);
        for run in &fired.runs {
            let start = fired.at.saturating_add(run.start.map_or(0, nanoseconds_of));
            spans.push(run_span(fire, fired.event, &fired.session, run, start));
        }
    }

    fn add_late(&self, late: &LateItem, spans: &mut Vec<Span>) {
        let fire = self.recall(&late.fire).unwrap_or_else(|| FireSpan {
            // The event is long past, so its span is unknown; the name of the event still tells which one it was.
            parent: None,
            ..FireSpan::new(None, self.sample_percent)
        });
        if fire.sampling == Sampling::NotSampled {
            return;
        }
        let start = late.at.saturating_sub(nanoseconds_of(late.run.duration));
        let mut span = run_span(fire, late.event, &late.session, &late.run, start);
        span.attributes.push(text("hookrail.fire.id", late.fire.as_str()));
        spans.push(span);
    }

    fn answer(&self, answered: &AnsweredItem) -> LogRecord {
        let fire = answered.fire.as_deref().and_then(|fire| self.recall(fire));
        let mut attributes = vec![
            text("hookrail.event", answered.event.name()),
            text("hookrail.answer", answered.answer),
            text("hookrail.operation", answered.operation.as_str()),
        ];
        push_text(&mut attributes, "gen_ai.conversation.id", &answered.session);
        push_text(&mut attributes, "hookrail.fire.id", answered.fire.as_deref().unwrap_or_default());
        let body = format!("{}: the user's answer is {}", answered.event.name(), answered.answer);
        log_record("hookrail.answer", Severity::Info, answered.at, body, attributes, fire)
    }

    fn remember(&mut self, name: String, fire: FireSpan) {
        if self.remembered.len() >= REMEMBERED {
            self.remembered.pop_front();
        }
        self.remembered.push_back((name, fire));
    }

    fn recall(&self, name: &str) -> Option<FireSpan> {
        self.remembered.iter().rev().find(|(known, _)| known == name).map(|(_, fire)| *fire)
    }
}

fn scope() -> InstrumentationScope {
    InstrumentationScope { name: "hookrail".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// Returns the operation that an event belongs to in the conventions for generative models.
fn operation(event: EventKind) -> Option<&'static str> {
    match event {
        EventKind::BeforeTool | EventKind::AfterTool => Some("execute_tool"),
        EventKind::BeforeModel | EventKind::AfterModel => Some("chat"),
        EventKind::SubagentStart | EventKind::SubagentStop => Some("invoke_agent"),
        _ => None,
    }
}

fn push_text(attributes: &mut Vec<KeyValue>, key: &str, value: &str) {
    if !value.is_empty() {
        attributes.push(text(key, value));
    }
}

fn fire_attributes(fired: &FiredItem) -> Vec<KeyValue> {
    let mut attributes = vec![
        text("hookrail.event", fired.event.name()),
        text("hookrail.decision", decision_name(fired.decision)),
        text("hookrail.fire.id", fired.fire.as_str()),
    ];
    push_text(&mut attributes, "gen_ai.operation.name", operation(fired.event).unwrap_or_default());
    push_text(&mut attributes, "gen_ai.tool.name", fired.tool.as_deref().unwrap_or_default());
    push_text(&mut attributes, "gen_ai.tool.call.id", fired.call.as_deref().unwrap_or_default());
    push_text(&mut attributes, "gen_ai.conversation.id", &fired.session);
    push_text(&mut attributes, "hookrail.refusal", fired.refusal.unwrap_or_default());
    match fired.journal {
        JournalPlace::Unknown => {}
        JournalPlace::Recorded(seq) => {
            let seq = i64::try_from(seq).unwrap_or(i64::MAX);
            attributes.push(attribute("hookrail.journal.seq", Value::Number(seq)));
        }
        JournalPlace::Failed(kind) => attributes.push(text("hookrail.journal.error", kind.name())),
    }
    if let Some(reason) = fired.content.as_ref().and_then(|content| content.reason.as_deref()) {
        attributes.push(text("hookrail.reason", reason));
    }
    attributes
}

fn decision_log(fired: &FiredItem, fire: FireSpan, at: u64, attributes: Vec<KeyValue>) -> LogRecord {
    let severity = match fired.decision {
        Some(Decision::Deny) => Severity::Warn,
        Some(Decision::Allow | Decision::Ask) | None => Severity::Info,
    };
    let tool = fired.tool.as_deref().map(|tool| format!(" {tool}")).unwrap_or_default();
    let body = format!("{}{tool}: {}", fired.event.name(), decision_name(fired.decision));
    log_record("hookrail.decision", severity, at, body, attributes, Some(fire))
}

fn log_record(
    name: &str,
    severity: Severity,
    at: u64,
    body: String,
    attributes: Vec<KeyValue>,
    fire: Option<FireSpan>,
) -> LogRecord {
    LogRecord {
        time_unix_nano: at,
        severity_number: severity.into(),
        severity_text: match severity {
            Severity::Warn => "WARN".to_owned(),
            Severity::Info | Severity::Unspecified => "INFO".to_owned(),
        },
        body: Some(AnyValue { value: Some(Value::Text(body)) }),
        attributes,
        flags: fire.map_or(0, FireSpan::flags),
        trace_id: fire.map(|fire| fire.trace.to_vec()).unwrap_or_default(),
        span_id: fire.map(|fire| fire.span.to_vec()).unwrap_or_default(),
        observed_time_unix_nano: nanoseconds(SystemTime::now()),
        event_name: name.to_owned(),
    }
}

fn new_span(fire: FireSpan, id: SpanId, parent: Option<SpanId>, name: String) -> Span {
    Span {
        trace_id: fire.trace.to_vec(),
        span_id: id.to_vec(),
        parent_span_id: parent.map(|parent| parent.to_vec()).unwrap_or_default(),
        name,
        kind: SpanKind::Internal.into(),
        flags: fire.flags(),
        ..Span::default()
    }
}

fn run_span(fire: FireSpan, event: EventKind, session: &str, run: &RunItem, start: u64) -> Span {
    let name: String = run.label.chars().take(LONGEST_NAME).collect();
    let mut span = new_span(fire, new_span_id(), Some(fire.span), format!("hookrail.hook {name}"));
    span.start_time_unix_nano = start;
    span.end_time_unix_nano = start.saturating_add(nanoseconds_of(run.duration));
    span.attributes = vec![
        text("hookrail.event", event.name()),
        text("hookrail.decision", decision_name(run.decision)),
        text("hookrail.hook.name", name),
        text("hookrail.hook.id", run.id.as_str()),
        text("hookrail.hook.dialect", run.dialect),
        text("hookrail.hook.layer", run.layer),
        text("hookrail.hook.end", run.end.name()),
    ];
    push_text(&mut span.attributes, "gen_ai.conversation.id", session);
    match run.role {
        RunRole::Enforced => {}
        RunRole::Shadow => span.attributes.push(attribute("hookrail.hook.shadow", Value::Flag(true))),
        RunRole::Detached => span.attributes.push(attribute("hookrail.hook.detached", Value::Flag(true))),
    }
    if run.health == Health::Failed {
        span.status = Some(Status { message: run.end.name().to_owned(), code: StatusCode::Error.into() });
    }
    span
}
