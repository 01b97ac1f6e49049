//! The work on one prompt: turns of model and tools until there is an answer or a reason to end.

use std::sync::atomic::Ordering;

use hookrail::guard::{AgentEnd, PromptEnd};
use hookrail::{EventKind, Json, Stop};
use hookrail_spawn::lock_mutex;

use super::call::CallEnd;
use super::{CompactionCause, ReferenceAgent};
use crate::clock;
use crate::message::{ModelReply, list, message, number, text_message};
use crate::session::SessionEntryKind;
use crate::shape;
use crate::view::ViewEvent;

/// How the work on a prompt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model answered.
    Answered(String),
    /// Hooks denied the prompt.
    Denied(String),
    /// A hook stopped the agent.
    Stopped(String),
    /// The user interrupted the work.
    Cancelled,
    /// The work took too many turns.
    Capped(String),
    /// The agent cannot continue.
    Failed(String),
    /// The account is no longer signed in.
    SignedOut(String),
    /// The output cannot be written.
    OutputLost(String),
}

impl TurnEnd {
    fn name(&self) -> &'static str {
        match self {
            Self::Answered(_) => "answered",
            Self::Denied(_) => "denied",
            Self::Stopped(_) => "stopped",
            Self::Cancelled => "cancelled",
            Self::Capped(_) => "capped",
            Self::Failed(_) => "failed",
            Self::SignedOut(_) => "signed_out",
            Self::OutputLost(_) => "output_lost",
        }
    }

    /// Returns the reason, for ends that have one.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        match self {
            Self::Answered(_) | Self::Cancelled => None,
            Self::Denied(text)
            | Self::Stopped(text)
            | Self::Capped(text)
            | Self::Failed(text)
            | Self::SignedOut(text)
            | Self::OutputLost(text) => Some(text),
        }
    }
}

/// What follows a turn.
enum NextStep {
    Turn,
    End(TurnEnd),
}

impl ReferenceAgent {
    /// Works on a prompt until it is done, and shows how the work ended.
    pub async fn prompt(&self, prompt: &str) -> TurnEnd {
        self.wait_for_session_start().await;
        let working = self.working();
        let mut end = self.answer(prompt).await;
        // A message of a module that came too late for this answer gets a turn of its own. Only one, because the next
        // message could ask for another, without end.
        if matches!(end, TurnEnd::Answered(_)) && self.session().wants_turn() {
            end = self.work(prompt).await;
        }
        drop(working);
        self.finished(end).await
    }

    /// Works on messages that hooks added while the agent was idle; none if no message asks for a turn.
    pub async fn follow_up(&self) -> Option<TurnEnd> {
        if !self.session().wants_turn() {
            return None;
        }
        self.wait_for_session_start().await;
        let working = self.working();
        self.begin_prompt();
        self.fire_event(EventKind::AgentStart, &[]).await;
        let end = self.work("").await;
        drop(working);
        Some(self.finished(end).await)
    }

    async fn finished(&self, end: TurnEnd) -> TurnEnd {
        let end = self.confirmed_end(end);
        if let TurnEnd::Stopped(reason) = &end {
            self.view().show(&ViewEvent::Stopped { reason });
        }
        self.view().show(&ViewEvent::TurnEnd { end: end.name(), detail: end.detail() });
        if self.depth == 0 && matches!(end, TurnEnd::Answered(_)) {
            self.compact_when_idle().await;
        }
        end
    }

    async fn answer(&self, prompt: &str) -> TurnEnd {
        if let Some(end) = self.obstacle() {
            return end;
        }
        self.begin_prompt();
        self.refresh_hooks();
        let guarded = self.guard().prompt(prompt).await;
        let prompt = match guarded {
            PromptEnd::Denied { message, notes, stop, receipt } => {
                self.keep_receipt("prompt", &receipt);
                self.take_notes(&notes);
                let by = self.hook_names(&receipt.denied_by());
                let by: Vec<&str> = by.iter().map(String::as_str).collect();
                self.view().show(&ViewEvent::PromptDenied { reason: &message, by: &by });
                // The prompt itself is not recorded, so it cannot reach a model later.
                self.keep_turn(&text_message("model", &format!("[prompt blocked by a hook: {message}]")));
                let stop = stop.or_else(|| self.take_stop());
                return stop.map_or(TurnEnd::Denied(message), |stop| TurnEnd::Stopped(stop.reason));
            }
            PromptEnd::Accepted { prompt, notes, stop, receipt } => {
                self.keep_receipt("prompt", &receipt);
                self.take_system_messages(&notes);
                if let Some(stop) = stop {
                    self.take_messages(&notes);
                    return TurnEnd::Stopped(stop.reason);
                }
                (prompt, notes)
            }
        };
        let (prompt, notes) = prompt;
        if self.is_cancelled() {
            return TurnEnd::Cancelled;
        }
        // If the receipt could not be recorded, the prompt is not recorded either: it would lack the effects of its hooks.
        if let Some(end) = self.obstacle() {
            return end;
        }
        self.keep_turn(&text_message("user", &prompt));
        // What modules add to a prompt follows it.
        self.take_messages(&notes);
        if let Some(end) = self.obstacle() {
            return end;
        }
        self.note_use();
        self.fire_event(EventKind::AgentStart, &[]).await;
        self.work(&prompt).await
    }

    /// Notes where the work on a prompt begins: turns count from here, and the end of the agent tells what came after.
    fn begin_prompt(&self) {
        self.turns.store(0, Ordering::Relaxed);
        let entries = self.session().entries().len();
        *lock_mutex(&self.prompt_begin) = entries;
        *lock_mutex(&self.unanswered) = None;
    }

    /// Runs turns until the work ends, and fires the end event of the agent in every case: a module that began something
    /// when the agent started has to end it also after an interrupt or a failed model.
    async fn work(&self, prompt: &str) -> TurnEnd {
        let end = match self.run_turns(prompt).await {
            Ok(end) => end,
            Err(end) => {
                self.end_early(prompt).await;
                end
            }
        };
        // They were meant for after this work, and there is no further turn in which they could be delivered.
        self.deliver_follow_ups();
        end
    }

    /// Runs turns. Returns the end after the end event of the agent was fired, or, as an error, the end before that.
    async fn run_turns(&self, prompt: &str) -> Result<TurnEnd, TurnEnd> {
        let mut reminders = 0;
        for _ in 0..self.parts.settings.most_turns {
            if self.is_cancelled() {
                return Err(TurnEnd::Cancelled);
            }
            self.refresh_hooks();
            if let Some(stop) = self.compact_when_full().await {
                return Err(TurnEnd::Stopped(stop.reason));
            }
            if self.turn().await?.is_none()
                && let NextStep::End(end) = self.finish(prompt, &mut reminders).await
            {
                return Ok(end);
            }
        }
        let most = self.parts.settings.most_turns;
        Err(TurnEnd::Capped(format!("the agent ended after {most} turns; raise the limit with `--max-turns`")))
    }

    /// Fires the end event of the agent after work that has no answer. Hooks cannot send the agent back to such work.
    async fn end_early(&self, prompt: &str) {
        match self.guard().agent_end(prompt, "", self.messages_of_prompt()).await {
            AgentEnd::Done { notes, receipt, .. }
            | AgentEnd::SentBack { notes, receipt, .. }
            | AgentEnd::Capped { notes, receipt, .. } => {
                self.keep_receipt("agent-end", &receipt);
                self.take_notes(&notes);
            }
        }
    }

    /// Returns the messages of the present prompt, in the form of modules.
    fn messages_of_prompt(&self) -> Json {
        let begin = *lock_mutex(&self.prompt_begin);
        let messages = shape::all_messages(self.session().entries().iter().skip(begin));
        // What a failed model did not say is not in the session.
        match lock_mutex(&self.unanswered).take() {
            Some(unanswered) => {
                list(&messages.as_array().unwrap_or_default().into_iter().chain([unanswered]).collect::<Vec<_>>())
            }
            None => messages,
        }
    }

    /// Runs one turn: the model's answer and the tools it calls. Returns the number of calls; none if there were no calls.
    async fn turn(&self) -> Result<Option<usize>, TurnEnd> {
        let index = self.turns.fetch_add(1, Ordering::Relaxed);
        let fields = [("turn_index", number(index)), ("timestamp", number(clock::now()))];
        self.fire_event(EventKind::TurnStart, &fields).await;
        let answer = match self.call_model().await {
            CallEnd::Answered(answer) => answer,
            CallEnd::Ended(end) => {
                self.round_ended(index).await;
                self.turn_ended_early(index, &end).await;
                return Err(end);
            }
        };
        let ModelReply { message: said, calls, usage, .. } = &answer.reply;
        lock_mutex(&self.usage).add(*usage);
        let said = if answer.reply.is_empty() { None } else { self.keep_answer(said, *usage) };
        self.round_ended(index).await;
        let ran = match &answer.stop {
            None => self.run_calls(calls, &answer.offered, said.as_deref()).await,
            Some(stop) => self.refuse_calls(calls, &stop.reason),
        };
        let results = match ran.responses.is_empty() {
            true => None,
            false => self.keep_results(&message("user", &ran.responses), ran.details),
        };
        for notes in &ran.notes {
            self.take_notes(notes);
        }
        let synced = self.session().sync();
        self.warn_unrecorded(synced);
        let (said, results) = (self.messages_of(said.as_deref()), self.messages_of(results.as_deref()));
        let said = said.into_iter().next_back().unwrap_or_else(|| shape::unanswered(self.model.name(), "stop", None));
        let fields = [("turn_index", number(index)), ("message", said), ("tool_results", list(&results))];
        self.fire_event(EventKind::TurnEnd, &fields).await;
        match answer.stop.or(ran.stop).or_else(|| self.take_stop()) {
            Some(stop) => Err(TurnEnd::Stopped(stop.reason)),
            None if self.is_cancelled() => Err(TurnEnd::Cancelled),
            None => Ok(Some(calls.len()).filter(|count| *count > 0)),
        }
    }

    /// Tells hooks that a round of model streaming ended, also without an answer. Rounds count from one, and the tokens
    /// are those of all rounds so far.
    async fn round_ended(&self, index: u64) {
        let usage = lock_mutex(&self.usage).to_json();
        self.fire_event(EventKind::ModelRoundEnd, &[("turn", number(index + 1)), ("token_usage", usage)]).await;
    }

    /// Tells hooks that a turn ended without an answer of the model.
    async fn turn_ended_early(&self, index: u64, end: &TurnEnd) {
        let stop_reason = if *end == TurnEnd::Cancelled { "aborted" } else { "error" };
        let message = shape::unanswered(self.model.name(), stop_reason, end.detail());
        *lock_mutex(&self.unanswered) = Some(message.clone());
        let fields = [("turn_index", number(index)), ("message", message), ("tool_results", list(&[]))];
        self.fire_event(EventKind::TurnEnd, &fields).await;
    }

    /// Returns the messages of an entry, in the form of modules.
    fn messages_of(&self, id: Option<&str>) -> Vec<Json> {
        let session = self.session();
        id.and_then(|id| session.entry(id)).map(shape::entry_messages).unwrap_or_default()
    }

    /// Handles an answer without tool calls. Open tasks and hooks can ask for another turn.
    async fn finish(&self, prompt: &str, reminders: &mut u32) -> NextStep {
        if self.deliver_follow_ups() || self.remind(reminders).await {
            return NextStep::Turn;
        }
        let response = self.session().contents().last().map(crate::message::text_of).unwrap_or_default();
        match self.guard().agent_end(prompt, &response, self.messages_of_prompt()).await {
            AgentEnd::Done { stop, clear_context, notes, receipt } => {
                self.keep_receipt("agent-end", &receipt);
                self.take_notes(&notes);
                self.clear_context(clear_context);
                NextStep::End(stop.map_or(TurnEnd::Answered(response), |stop| TurnEnd::Stopped(stop.reason)))
            }
            AgentEnd::SentBack { message, clear_context, notes, receipt } => {
                self.keep_receipt("agent-end", &receipt);
                self.take_notes(&notes);
                self.clear_context(clear_context);
                self.view().show(&ViewEvent::SentBack { message: &message });
                self.keep_turn(&text_message("user", &message));
                NextStep::Turn
            }
            AgentEnd::Capped { message, notes, receipt, .. } => {
                self.keep_receipt("agent-end", &receipt);
                self.take_notes(&notes);
                let text = format!("a hook sent the agent back too often, and was ignored: {message}");
                self.view().show(&ViewEvent::Warning { code: Some("sent-back-too-often"), text: &text });
                NextStep::End(TurnEnd::Answered(response))
            } // An end that this agent does not know may be a refusal, so it is no answer.
        }
    }

    fn clear_context(&self, wanted: bool) {
        if wanted {
            let kept = self.session().append(SessionEntryKind::Cleared, &[]);
            self.warn_unrecorded(kept);
            self.view().show(&ViewEvent::Note { text: "a hook cleared the model's context" });
        }
    }

    /// Reminds the model of open tasks. Returns whether it did.
    async fn remind(&self, reminders: &mut u32) -> bool {
        let open = |todo: &Json| {
            todo.as_object().and_then(|todo| todo.get("status")?.as_str()).is_some_and(|status| status != "completed")
        };
        let todos: Vec<Json> = self.session().todos().into_iter().filter(open).collect();
        let most = self.parts.settings.most_reminders;
        if todos.is_empty() || *reminders >= most {
            return false;
        }
        *reminders += 1;
        let fields = [
            ("todos", list(&todos)),
            ("attempt", number(u64::from(*reminders))),
            ("max_attempts", number(u64::from(most))),
        ];
        self.fire_event(EventKind::TodoReminder, &fields).await;
        let names: Vec<String> = todos
            .iter()
            .filter_map(|todo| todo.as_object()?.get("content")?.as_str())
            .map(|text| format!("- {text}"))
            .collect();
        self.view().show(&ViewEvent::Note { text: "the agent is reminded of its open tasks" });
        self.keep_system(&format!("these tasks are still open:\n{}", names.join("\n")));
        true
    }

    /// Compacts the conversation if it takes too much of the model's window.
    async fn compact_when_full(&self) -> Option<Stop> {
        if self.fullness() < self.parts.settings.compact_above {
            return None;
        }
        self.compact(CompactionCause::Threshold, None).await.stop()
    }

    async fn compact_when_idle(&self) {
        if self.fullness() >= self.parts.settings.compact_idle_above {
            let stop = self.compact(CompactionCause::Idle, None).await.stop();
            if let Some(stop) = stop {
                self.view().show(&ViewEvent::Stopped { reason: &stop.reason });
            }
        }
    }

    pub(super) fn take_stop(&self) -> Option<Stop> {
        self.host_state.stop.take()
    }

    pub(super) fn request_stop(&self, stop: Stop) {
        self.host_state.stop.request(stop);
    }
}
