//! Compaction: a summary replaces the older part of the conversation.

use hookrail::guard::{CompactionPlan, Visibility};
use hookrail::{EventKind, Json, JsonObject, Stop};

use super::ReferenceAgent;
use crate::message::{ModelReply, calls_of, is_prompt, list, number, object, text_message, tokens};
use crate::model::ModelError;
use crate::session::{SessionEntry, SessionEntryKind};
use crate::shape;
use crate::view::ViewEvent;

/// The reason for a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionCause {
    /// The user asked for it.
    Manual,
    /// The conversation takes too much of the model's window.
    Threshold,
    /// The model refused the request because it is too long.
    Overflow,
    /// The conversation is long, and the agent is idle.
    Idle,
}

impl CompactionCause {
    fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Threshold => "threshold",
            Self::Overflow => "overflow",
            Self::Idle => "idle",
        }
    }

    /// Returns the `trigger` of the event `before-compact`.
    fn trigger(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Threshold | Self::Idle => "proactive",
            Self::Overflow => "reactive",
        }
    }
}

/// How a compaction ended.
#[derive(Clone, Debug)]
pub enum CompactionOutcome {
    /// The conversation was compacted.
    Done {
        /// The stop that a hook asked for.
        stop: Option<Stop>,
        /// The compaction: its summary, the first entry that was kept, the tokens before, and what a hook added.
        result: Json,
    },
    /// There was nothing to compact.
    Nothing,
    /// A hook cancelled the compaction, for this reason.
    Cancelled(String, Option<Stop>),
    /// The summary could not be made or recorded.
    Failed(String),
}

impl CompactionOutcome {
    pub(super) fn stop(self) -> Option<Stop> {
        match self {
            Self::Done { stop, .. } | Self::Cancelled(_, stop) => stop,
            Self::Nothing | Self::Failed(_) => None,
        }
    }
}

/// The part of the conversation that is summarised, and the part that stays.
struct Preparation {
    first_kept: Json,
    to_summarise: Vec<Json>,
    kept_count: usize,
    /// The two parts in the form of modules.
    shaped_to_summarise: Json,
    shaped_kept: Json,
    branch: Json,
    previous_summary: Option<String>,
    /// What modules kept with the last compaction.
    previous_data: Json,
    /// The files that the summarised part worked on.
    file_ops: Json,
    tokens_before: u64,
}

/// Why there is no summary.
enum NoSummary {
    Failed(String),
    /// A hook stopped the agent while the summary was made.
    Stopped(Stop),
}

/// A summary, with its origin.
struct Summary {
    text: String,
    from_hook: bool,
    visibility: Visibility,
    more: JsonObject,
}

impl ReferenceAgent {
    /// Compacts the conversation.
    pub async fn compact(&self, cause: CompactionCause, instructions: Option<&str>) -> CompactionOutcome {
        let automatic = cause != CompactionCause::Manual;
        // A manual compaction is work of its own: an earlier interrupt must not cancel it.
        let _working = (!automatic).then(|| self.working());
        if automatic {
            let fields = [("reason", Json::string(cause.name())), ("action", Json::string("context-full"))];
            self.fire_event(EventKind::AutoCompactionStart, &fields).await;
        }
        let done = self.compact_now(cause, instructions).await;
        if let CompactionOutcome::Cancelled(reason, _) | CompactionOutcome::Failed(reason) = &done {
            self.view()
                .show(&ViewEvent::Warning { code: Some("not-compacted"), text: &format!("not compacted: {reason}") });
        }
        if automatic {
            self.auto_compaction_ended(cause, &done).await;
        }
        done
    }

    async fn auto_compaction_ended(&self, cause: CompactionCause, done: &CompactionOutcome) {
        let mut fields = vec![
            ("action", Json::string("context-full")),
            ("aborted", Json::boolean(matches!(done, CompactionOutcome::Cancelled(..)))),
            (
                "will_retry",
                Json::boolean(cause == CompactionCause::Overflow && matches!(done, CompactionOutcome::Done { .. })),
            ),
        ];
        match done {
            CompactionOutcome::Nothing => fields.push(("skipped", Json::boolean(true))),
            CompactionOutcome::Failed(why) => fields.push(("error_message", Json::string(why))),
            CompactionOutcome::Done { result, .. } => fields.push(("result", result.clone())),
            CompactionOutcome::Cancelled(..) => {}
        }
        self.fire_event(EventKind::AutoCompactionEnd, &fields).await;
    }

    async fn compact_now(&self, cause: CompactionCause, instructions: Option<&str>) -> CompactionOutcome {
        let Some(prepared) = self.prepare() else { return CompactionOutcome::Nothing };
        if let Some(why) = self.obstacle().and_then(|end| end.detail().map(str::to_owned)) {
            return CompactionOutcome::Failed(why);
        }
        let mut fields = vec![
            ("preparation", prepared.to_json()),
            ("branch_entries", prepared.branch.clone()),
            ("message_count", number(prepared.to_summarise.len() as u64 + prepared.kept_count as u64)),
            ("token_estimate", number(prepared.tokens_before)),
        ];
        fields.extend(instructions.map(|text| ("custom_instructions", Json::string(text))));
        let guarded = self.guard().compaction(cause.trigger(), &fields, prepared.shaped_to_summarise.clone()).await;
        self.keep_receipt("compaction", &guarded.receipt);
        self.take_notes(&guarded.notes);
        let stop = guarded.stop;
        let summary = match guarded.plan {
            CompactionPlan::Cancelled(reason) => return CompactionOutcome::Cancelled(reason, stop),
            CompactionPlan::Given(compaction) => Ok(Summary::given(&compaction)),
            CompactionPlan::Summarise(extras) => self.summarise(&prepared.to_summarise, extras, instructions).await,
        };
        let summary = match summary {
            Ok(summary) => summary,
            Err(NoSummary::Failed(why)) => return CompactionOutcome::Failed(why),
            Err(NoSummary::Stopped(stop)) => return CompactionOutcome::Cancelled(stop.reason.clone(), Some(stop)),
        };
        match self.keep_compaction(cause, &prepared, &summary).await {
            Ok((more, result)) => CompactionOutcome::Done { stop: stop.or(more), result },
            Err(why) => CompactionOutcome::Failed(why),
        }
    }

    async fn keep_compaction(
        &self,
        cause: CompactionCause,
        prepared: &Preparation,
        summary: &Summary,
    ) -> Result<(Option<Stop>, Json), String> {
        let mut fields = vec![
            ("summary", Json::string(&summary.text)),
            ("firstKeptEntryId", prepared.first_kept.clone()),
            ("tokensBefore", number(prepared.tokens_before)),
            ("fromHook", Json::boolean(summary.from_hook)),
        ];
        let known = ["firstKeptEntryId", "tokensBefore", "details", "preserveData", "shortSummary"];
        for name in known {
            if let Some(value) = summary.more.get(name) {
                fields.retain(|(key, _)| *key != name);
                fields.push((name, value.clone()));
            }
        }
        let result: JsonObject =
            fields.iter().filter(|(name, _)| *name != "fromHook").map(|(name, value)| (*name, value.clone())).collect();
        let (entry, count) = {
            let mut session = self.session();
            let id = session.append(SessionEntryKind::Compaction, &fields).map_err(|error| error.to_string())?;
            let entry = session.entry(&id).map_or_else(Json::null, SessionEntry::to_json);
            (entry, session.contents().len())
        };
        let shown = (summary.visibility == Visibility::Shown).then_some(summary.text.as_str());
        self.view().show(&ViewEvent::Compacted { reason: cause.name(), summary: shown });
        let fields = [
            ("trigger", Json::string(cause.trigger())),
            ("message_count", number(count as u64)),
            ("summary", Json::string(&summary.text)),
            ("compaction_entry", entry),
            ("from_extension", Json::boolean(summary.from_hook)),
        ];
        self.fire_event(EventKind::AfterCompact, &fields).await;
        // The conversation restarts from its summary, so hooks add again what they add at the start of a session.
        let stop = if self.depth == 0 { self.session_started("compress").await } else { None };
        Ok((stop, result.to_json()))
    }

    /// Returns what can be compacted: everything before the last prompt; none if that is less than two messages.
    fn prepare(&self) -> Option<Preparation> {
        let session = self.session();
        let (previous, entries) = session.visible_entries();
        let prompt = |entry: &&SessionEntry| {
            entry.kind == SessionEntryKind::Message && entry.field("message").is_some_and(is_prompt)
        };
        let last = entries.iter().rposition(prompt).filter(|at| *at > 0);
        let (old, kept) = entries.split_at(last.unwrap_or(entries.len()));
        let messages = |entries: &[&SessionEntry]| -> Vec<Json> {
            entries.iter().filter_map(|entry| entry.field("message").cloned()).collect()
        };
        let to_summarise = messages(old);
        // A single prompt is not longer than its summary.
        if to_summarise.len() < 2 {
            return None;
        }
        Some(Preparation {
            first_kept: kept.first().map_or_else(Json::null, |entry| Json::string(&entry.id)),
            kept_count: messages(kept).len(),
            shaped_kept: shape::all_messages(kept.iter().copied()),
            shaped_to_summarise: shape::all_messages(old.iter().copied()),
            branch: shape::all_entries(session.branch()),
            previous_summary: previous.and_then(|entry| entry.text("summary")),
            previous_data: previous.and_then(|entry| entry.field("preserveData").cloned()).unwrap_or_else(Json::null),
            file_ops: file_ops(&to_summarise),
            tokens_before: tokens(&list(&session.contents())),
            to_summarise,
        })
    }

    /// Lets the model write the summary, through the guard like every model call.
    async fn summarise(&self, old: &[Json], extras: Option<Json>, more: Option<&str>) -> Result<Summary, NoSummary> {
        let extras = extras.and_then(|extras| extras.as_object()).unwrap_or_default();
        let default = "Summarise the conversation so far: what is wanted, what was done, what is open.";
        let mut wish = extras.get("prompt").and_then(Json::as_str).unwrap_or_else(|| default.to_owned());
        let context = extras.get("context").and_then(Json::as_array).unwrap_or_default();
        for text in context.iter().filter_map(Json::as_str).chain(more.map(str::to_owned)) {
            wish.push_str("\n\n");
            wish.push_str(&text);
        }
        let mut contents = old.to_vec();
        contents.push(text_message("user", &wish));
        let mut request = JsonObject::new();
        request.set("model", Json::string(self.model.name()));
        request.set("purpose", Json::string("summary"));
        request.set("contents", list(&contents));
        let guard = self.guard();
        let called = guard.model_call_beside(request.to_json(), |permit| async move {
            let mut discarded = DiscardingStream;
            tokio::select! {
                responded = self.model.respond(&permit, &mut discarded) => responded,
                () = super::call::cancelled(self.token()) => Err(ModelError::Interrupted),
            }
        });
        let result = called.await.map_err(|error| NoSummary::Failed(error.to_string()))?;
        self.keep_receipt("model-call", &result.receipt);
        self.take_notes(&result.notes);
        // The response of a stopped call is the reason of the stop, which is no summary.
        if let Some(stop) = result.stop {
            return Err(NoSummary::Stopped(stop));
        }
        let text = ModelReply::read(&result.response, "call").text;
        if text.is_empty() {
            let why = result.reason.unwrap_or_else(|| "the model gave no summary".to_owned());
            return Err(NoSummary::Failed(why));
        }
        let mut kept = JsonObject::new();
        if let Some(data) = extras.get("preserveData") {
            kept.set("preserveData", data.clone());
        }
        Ok(Summary { text, from_hook: false, visibility: result.visibility, more: kept })
    }
}

impl Summary {
    fn given(compaction: &Json) -> Self {
        let more = compaction.as_object().unwrap_or_default();
        let text = more.get("summary").and_then(Json::as_str).unwrap_or_default();
        Self { text, from_hook: true, visibility: Visibility::Shown, more }
    }
}

impl Preparation {
    fn to_json(&self) -> Json {
        object([
            ("firstKeptEntryId", self.first_kept.clone()),
            ("messagesToSummarize", self.shaped_to_summarise.clone()),
            ("turnPrefixMessages", list(&[])),
            ("recentMessages", self.shaped_kept.clone()),
            ("isSplitTurn", Json::boolean(false)),
            ("tokensBefore", number(self.tokens_before)),
            ("previousSummary", self.previous_summary.as_deref().map_or_else(Json::null, Json::string)),
            ("previousPreserveData", self.previous_data.clone()),
            ("fileOps", self.file_ops.clone()),
            ("settings", settings()),
        ])
    }
}

/// What the compaction goes by, in the words of modules.
fn settings() -> Json {
    object([("enabled", Json::boolean(true)), ("strategy", Json::string("context-full"))])
}

/// The files that the tools of these messages read, wrote and edited, each once.
fn file_ops(messages: &[Json]) -> Json {
    let (mut read, mut written, mut edited): (Vec<String>, Vec<String>, Vec<String>) = Default::default();
    for call in messages.iter().flat_map(calls_of) {
        let path = call.args.as_ref().ok().and_then(|args| args.as_object()?.get("path")?.as_str());
        let files = match crate::tool::call_for_modules(&call.name, &Json::empty_object()).0.as_str() {
            "read" => &mut read,
            "write" => &mut written,
            "edit" => &mut edited,
            _ => continue,
        };
        files.extend(path.filter(|path| !files.contains(path)));
    }
    let files = |paths: Vec<String>| list(&paths.iter().map(|path| Json::string(path)).collect::<Vec<_>>());
    object([("read", files(read)), ("written", files(written)), ("edited", files(edited))])
}

/// A response stream that discards the text: a summary is not shown while it is written.
pub(super) struct DiscardingStream;

impl crate::model::ResponseStream for DiscardingStream {
    fn text(&mut self, _text: &str) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Continue(())
    }
}
