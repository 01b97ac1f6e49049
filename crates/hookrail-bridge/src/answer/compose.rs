//! Takes the effects of the hooks one by one and decides, by the answer table, how each of them is expressed.

use hookrail::{Asker, Decision, Effects, EventKind, Json};

use super::{AllowPolicy, Answer, AnswerOptions, Attendance, EventResult, stop_reason};
use crate::agents::Agent;
use crate::effect::{EffectKind, Handling};
use crate::forms::{AnswerContent, AnswerForm, OutputFit, StopText};
use crate::loss::Loss;
use crate::request::{AgentRequest, UnknownName};
use crate::session::{BridgeSession, MAX_AGENT_END_DENIALS, PendingStop, StopReach};
use crate::spec::{Questions, RewriteFit};

pub(super) struct Composer<'a> {
    request: &'a AgentRequest,
    options: AnswerOptions,
    session: &'a mut BridgeSession,
    message: AnswerContent,
    /// The reason of a stop that the tool's result has to carry.
    stop_output: Option<String>,
    losses: Vec<Loss>,
}

impl<'a> Composer<'a> {
    pub(super) fn new(request: &'a AgentRequest, options: AnswerOptions, session: &'a mut BridgeSession) -> Self {
        Self { request, options, session, message: AnswerContent::default(), stop_output: None, losses: Vec::new() }
    }

    pub(super) fn compose(mut self, results: &[EventResult]) -> Answer {
        self.take_waiting_context();
        self.forget_question();
        for result in results {
            self.take_effects(result);
        }
        self.take_rewrite(results);
        self.finish()
    }

    fn agent(&self) -> Agent {
        self.request.agent
    }

    fn kind(&self) -> EventKind {
        self.request.kind()
    }

    fn form(&self) -> &'static dyn AnswerForm {
        self.request.event.form
    }

    /// Whether the event is one at which the agent may ask at its terminal.
    fn asks_at_terminal(&self) -> bool {
        self.kind() == EventKind::BeforeTool && self.agent().spec().questions == Questions::AtTerminal
    }

    /// How an effect is expressed, which is a loss unless it is honoured.
    fn handle(&mut self, effect: EffectKind) -> Handling {
        let handling = match effect {
            EffectKind::Ask if self.asks_at_terminal() && self.options.attendance == Attendance::Attended => {
                Handling::Honoured
            }
            _ => self.agent().handling(self.kind(), effect),
        };
        self.lose(effect, handling);
        handling
    }

    fn lose(&mut self, effect: EffectKind, handling: Handling) {
        if !handling.is_honoured() {
            self.losses.push(Loss { event: self.kind(), effect, handling });
        }
    }

    fn deny(&mut self, reason: String) {
        match &mut self.message.deny {
            Some(text) if text.contains(&reason) => {}
            Some(text) => {
                text.push('\n');
                text.push_str(&reason);
            }
            None => self.message.deny = Some(reason),
        }
    }

    /// Whether the answer is a denial by exit status, which has a text on standard error and nothing else.
    fn denies_by_status(&self) -> bool {
        self.message.deny.is_some() && self.form().denies_by_status(self.kind())
    }

    /// A call that has ended is not asked about any more.
    fn forget_question(&mut self) {
        if self.kind() == EventKind::AfterTool
            && let Some(call) = self.request.call_key()
        {
            self.session.asked_calls.remove(&call);
        }
    }

    fn take_waiting_context(&mut self) {
        if self.agent().handling(self.kind(), EffectKind::Context).is_honoured() {
            let key = self.request.call_key().filter(|_| self.kind() == EventKind::AfterTool);
            self.message.context = self.session.take_context(key.as_deref());
        }
    }

    fn take_effects(&mut self, event_result: &EventResult) {
        // Destructured, so that a new effect does not compile before it is handled.
        let Effects {
            decision,
            reason,
            stop,
            system_message,
            suppress_output,
            clear_context,
            additional_context,
            tool_input: _, // The last one counts.
            tool_output,
            prompt,
            messages,
            entries,
            llm_request,
            llm_response,
            tool_config,
            result,
        } = &event_result.effects;
        self.take_decision(*decision, reason.as_deref(), event_result);
        if let Some(stop) = stop {
            self.take_stop(&stop.reason);
        }
        if let Some(text) = system_message
            && self.handle(EffectKind::SystemMessage).is_honoured()
        {
            self.add_system_message(text);
        }
        if let Some(text) = additional_context.as_ref().filter(|text| !text.is_empty()) {
            self.take_context(text);
        }
        if let Some(output) = tool_output {
            self.take_output(&output_text(output));
        }
        if let Some(prompt) = prompt {
            self.take_prompt(prompt);
        }
        if *clear_context {
            self.message.clear_context = self.handle(EffectKind::ClearContext).is_honoured();
        }
        if let Some(request) = llm_request
            && self.handle(EffectKind::ModelRequest).is_honoured()
        {
            self.message.llm_request = Some(request.clone());
        }
        if let Some(response) = llm_response
            && self.handle(EffectKind::ModelResponse).is_honoured()
        {
            self.message.llm_response = Some(response.clone());
        }
        if let Some(config) = tool_config
            && self.handle(EffectKind::ToolConfig).is_honoured()
        {
            self.message.tool_config = Some(config.clone());
        }
        let unexpressed = [
            (EffectKind::SuppressOutput, *suppress_output),
            (EffectKind::Messages, !messages.is_empty()),
            (EffectKind::Entries, !entries.is_empty()),
            (EffectKind::Result, result.is_some()),
        ];
        for (effect, _) in unexpressed.into_iter().filter(|(_, asked)| *asked) {
            self.handle(effect);
        }
    }

    fn take_decision(&mut self, decision: Option<Decision>, reason: Option<&str>, result: &EventResult) {
        let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
        match decision {
            None => {}
            // Not a loss: the agent asks its own question, which a hook without an objection does not want to skip.
            Some(Decision::Allow) => {
                let may_allow = match self.kind() {
                    // The question of a guard is for a person.
                    EventKind::PermissionRequest => self.session.asked_calls.is_empty(),
                    _ => self.options.allow == AllowPolicy::SkipsPrompt,
                };
                self.message.allow = may_allow && self.agent().handling(self.kind(), EffectKind::Allow).is_honoured();
            }
            Some(Decision::Ask) => {
                let question = reason.unwrap_or("a hook requires approval").to_owned();
                match self.handle(EffectKind::Ask) {
                    Handling::Honoured => {
                        if result.asked_by == Some(Asker::Guard)
                            && let Some(call) = self.request.call_key()
                        {
                            self.session.keep_asked(call);
                        }
                        self.message.ask = Some(question);
                    }
                    Handling::Denied | Handling::DeniedUntilPrompt => self.deny_question(&question),
                    Handling::AddedAsContext
                    | Handling::KeptForLater
                    | Handling::ReplacesResult
                    | Handling::FollowsResponse
                    | Handling::Dropped => {}
                }
            }
            Some(Decision::Deny) => {
                let text = reason.unwrap_or("a hook denied this").to_owned();
                self.take_deny(text, result.denied_by.as_deref());
            }
        }
    }

    /// Denies what the user cannot be asked about.
    fn deny_question(&mut self, question: &str) {
        if !self.may_deny() {
            return;
        }
        if self.asks_at_terminal() {
            self.add_system_message(question);
        }
        let end = if question.ends_with(['.', '?', '!']) { "" } else { "." };
        self.deny(format!(
            "approval required: {question}{end} {} cannot ask for it here: explain to the user what you want to do and why",
            self.agent().title()
        ));
    }

    /// Whether another denial is given. The end of an answer is denied a limited number of times in a row, whatever asks for
    /// it: each of them makes the agent continue.
    fn may_deny(&mut self) -> bool {
        if self.kind() != EventKind::AgentEnd || self.message.deny.is_some() {
            return true;
        }
        if self.session.agent_end_denials >= MAX_AGENT_END_DENIALS {
            self.lose(EffectKind::Deny, Handling::Dropped);
            return false;
        }
        self.session.agent_end_denials += 1;
        true
    }

    fn take_deny(&mut self, reason: String, hook: Option<&str>) {
        if !self.may_deny() {
            return;
        }
        match self.handle(EffectKind::Deny) {
            Handling::Honoured => self.deny(match hook.filter(|_| self.kind().spec().guards_a_call()) {
                Some(hook) => format!("denied by hook `{hook}`: {reason}"),
                None => reason,
            }),
            Handling::Denied | Handling::DeniedUntilPrompt => self.deny(reason),
            Handling::AddedAsContext => self.add_context(reason),
            Handling::KeptForLater | Handling::ReplacesResult | Handling::FollowsResponse | Handling::Dropped => {}
        }
    }

    fn take_stop(&mut self, reason: &str) {
        let text = stop_reason(reason);
        let pending = |reach| Some(PendingStop { reason: reason.to_owned(), reach });
        match self.handle(EffectKind::Stop) {
            Handling::Honoured => self.message.stop = Some(reason.to_owned()),
            Handling::ReplacesResult => {
                match self.form().stop_text() {
                    StopText::AsResult => {}
                    StopText::AsResultAndContext => self.add_context(text.clone()),
                }
                self.stop_output = Some(text);
                self.session.stop = pending(StopReach::UntilPrompt);
            }
            _ => {
                let before_a_prompt = matches!(self.kind(), EventKind::SessionStart | EventKind::Prompt);
                let reach =
                    if self.kind() == EventKind::SessionStart { StopReach::NextPrompt } else { StopReach::UntilPrompt };
                self.session.stop = pending(reach);
                if self.kind().spec().is_gating() {
                    self.deny(text);
                } else if !before_a_prompt {
                    self.add_context(text);
                }
            }
        }
    }

    fn take_context(&mut self, text: &str) {
        match self.handle(EffectKind::Context) {
            Handling::Honoured => self.add_context(text.to_owned()),
            Handling::KeptForLater => {
                let key = self.request.call_key().filter(|_| self.kind() == EventKind::BeforeTool);
                self.session.keep_context(key, text.to_owned());
            }
            Handling::Denied
            | Handling::DeniedUntilPrompt
            | Handling::AddedAsContext
            | Handling::ReplacesResult
            | Handling::FollowsResponse
            | Handling::Dropped => {}
        }
    }

    fn add_system_message(&mut self, text: &str) {
        let old = self.message.system_message.take();
        self.message.system_message = Some(old.map_or_else(|| text.to_owned(), |old| format!("{old}\n{text}")));
    }

    fn add_context(&mut self, text: String) {
        if !self.message.context.contains(&text) {
            self.message.context.push(text);
        }
    }

    fn take_output(&mut self, text: &str) {
        let fit = self.form().fit_output(&self.request.answered(), text);
        let handling = match fit {
            OutputFit::AsHandled => self.agent().handling(self.kind(), EffectKind::ToolOutput),
            OutputFit::ContextOnly | OutputFit::ContextToo => Handling::AddedAsContext,
        };
        self.lose(EffectKind::ToolOutput, handling);
        if handling.is_honoured() || fit == OutputFit::ContextToo {
            self.message.output = Some(text.to_owned());
        }
        if !handling.is_honoured() {
            self.add_context(format!("a hook replaces the result of this call by:\n{text}"));
        }
    }

    /// A prompt to which text was added is a context; any other is a replacement.
    fn take_prompt(&mut self, prompt: &str) {
        let original = self.request.prompt.as_deref().unwrap_or_default();
        if self.agent().handling(self.kind(), EffectKind::Prompt).is_honoured() {
            self.message.prompt = Some(prompt.to_owned());
            return;
        }
        let added = prompt.split_once(original).filter(|_| !original.is_empty());
        let Some((before, after)) = added else {
            self.handle(EffectKind::Prompt);
            self.add_context(format!("a hook replaces the user's prompt by:\n{prompt}"));
            return;
        };
        for text in [before.trim(), after.trim()] {
            let known = self.message.context.iter().any(|known| known.trim() == text);
            if !text.is_empty() && !known {
                self.add_context(text.to_owned());
            }
        }
    }

    fn take_rewrite(&mut self, results: &[EventResult]) {
        let Some(call) = &self.request.call else { return };
        let Some(input) = results.iter().filter_map(|result| result.effects.tool_input.as_ref()).next_back() else {
            return;
        };
        let rewritten = call.to_agent(input);
        if rewritten.same_as(&call.agent_input) {
            return;
        }
        let advice = format!(
            "a hook changes this call, and {} cannot run it changed. Make this call instead: `{}` with {}",
            self.agent().title(),
            call.name,
            rewritten.text()
        );
        let handling = match (self.agent().spec().rewrite_fit)(call, &rewritten) {
            // The agent takes another input only as a part of the answer to its question.
            RewriteFit::AsHandled if self.kind() != EventKind::PermissionRequest || self.message.allow => {
                self.handle(EffectKind::ToolInput)
            }
            RewriteFit::AsHandled | RewriteFit::Impossible => {
                self.lose(EffectKind::ToolInput, Handling::Denied);
                Handling::Denied
            }
        };
        match handling {
            Handling::Honoured => {
                if let (Some(key), Some(changed)) = (self.request.call_key(), self.request.call_key_with(&rewritten)) {
                    self.session.keep_also_under(key, changed);
                }
                self.message.input = Some(rewritten);
            }
            _ => self.deny(advice),
        }
    }

    fn finish(mut self) -> Answer {
        if let Some(stopped) = self.stop_output.take() {
            // The reason comes first: the model has to stop, whatever else the result says.
            let output = self.message.output.take();
            self.message.output =
                Some(output.map_or_else(|| stopped.clone(), |output| format!("{stopped}\n\n{output}")));
        }
        if self.kind() == EventKind::AgentEnd && (self.message.deny.is_none() || self.message.stop.is_some()) {
            // The end stands, so the next answer begins to count anew.
            self.session.agent_end_denials = 0;
        }
        if self.message.stop.is_some() {
            match self.kind() {
                // Without a deny an agent may run the tool and end only then.
                EventKind::BeforeTool => {
                    let text = stop_reason(self.message.stop.as_deref().unwrap_or_default());
                    self.deny(text);
                }
                // A denial by exit status has no member for the stop.
                EventKind::Prompt if self.denies_by_status() => {
                    let text = stop_reason(self.message.stop.as_deref().unwrap_or_default());
                    self.deny(text);
                }
                // A stop is not to be kept from ending by a deny of the end.
                EventKind::AgentEnd => self.message.deny = None,
                _ => {}
            }
        }
        // A denial by exit status has no member for a message, and nothing is dropped silently.
        let message = if self.denies_by_status() { self.message.system_message.take() } else { None };
        if message.is_some() {
            self.lose(EffectKind::SystemMessage, Handling::AddedAsContext);
        }
        if let Some(deny) = &mut self.message.deny {
            self.session.stop_after_denied_prompt(self.request, deny);
            // A rewrite beside a deny voids the answer in some agents. Context beside a deny is lost in most forms, so it becomes
            // part of the reason.
            self.message.input = None;
            self.message.ask = None;
            self.message.allow = false;
            let mut texts = std::mem::take(&mut self.message.context);
            if self.request.kind() == EventKind::BeforeTool {
                // A call that is denied has no end at which its context could be given.
                let key = self.request.call_key();
                texts.extend(key.and_then(|key| self.session.take_call_context(&key)));
            }
            for text in texts.into_iter().chain(message) {
                deny.push_str("\n\n");
                deny.push_str(&text);
            }
        }
        for loss in &self.losses {
            *self.session.losses.entry(loss.name()).or_default() += 1;
        }
        let mut answer = self.form().write(&self.request.answered(), &self.message);
        if answer.stderr.is_none() {
            answer.stderr = self.report_unknown_names();
        }
        answer.decision = self.message.decision();
        answer.losses = self.losses;
        answer
    }

    /// What a newer agent brings passes, and is mentioned once per session.
    fn report_unknown_names(&mut self) -> Option<String> {
        let title = self.agent().title();
        let texts = self.request.unknown.iter().filter_map(|unknown| match unknown {
            UnknownName::Tool(name) => self.session.report(name).then(|| {
                format!(
                    "hookrail: this version has no other names for the tool {name:?} of {title}; hooks get its own name and arguments"
                )
            }),
            UnknownName::Field { name, event } => self.session.report(&format!("{event}.{name}")).then(|| {
                format!("hookrail: this version does not know the field {name:?} of {event} in {title}; hooks do not get it")
            }),
        });
        let texts: Vec<String> = texts.collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }
}

/// The text of a replaced result: a text, or the text parts of a list of content.
fn output_text(output: &Json) -> String {
    if let Some(text) = output.as_str() {
        return text;
    }
    let content = output.as_object().and_then(|members| members.get("content").cloned());
    let Some(content) = content else { return output.text().to_owned() };
    if let Some(text) = content.as_str() {
        return text;
    }
    let Some(parts) = content.as_array() else { return content.text().to_owned() };
    let text = |part: &Json| part.as_object().and_then(|part| part.get("text")?.as_str());
    parts.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}
