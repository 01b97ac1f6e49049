//! The tool calls of one answer, each through the guard, one after the other.

use hookrail::guard::{Notes, Permit, ToolCall, ToolEnd, ToolFailure, ToolOutput, Visibility};
use hookrail::{Json, JsonObject, Stop};
use hookrail_spawn::lock_mutex;

use super::ReferenceAgent;
use crate::message::{RequestedCall, tool_response};
use crate::session::SessionEntryKind;
use crate::tool::{self, TASK, TODO};
use crate::view::ViewEvent;

/// The results of the calls of one answer.
#[derive(Default)]
pub(super) struct RanCalls {
    /// The parts that the model reads, one for each call.
    pub(super) responses: Vec<Json>,
    /// What modules gave as the details of results, by the call. It is for modules and not for the model.
    pub(super) details: JsonObject,
    /// The messages and entries of hooks. They are recorded after the results, because a model accepts nothing between a
    /// call and its result.
    pub(super) notes: Vec<Notes>,
    pub(super) stop: Option<Stop>,
}

/// The names of the hooks that had an effect on a call.
#[derive(Default)]
struct ToolHooks {
    denied_by: Vec<String>,
    rewritten_by: Vec<String>,
}

impl ReferenceAgent {
    /// Runs calls. After a hook stopped the agent or the user interrupted it, the other calls are answered with the reason.
    /// The entry of the answer is `answer`.
    pub(super) async fn run_calls(
        &self,
        calls: &[RequestedCall],
        offered: &[String],
        answer: Option<&str>,
    ) -> RanCalls {
        let mut ran = RanCalls::default();
        for call in calls {
            let why = match (&ran.stop, self.is_cancelled()) {
                (Some(stop), _) => Some(format!("not run, because the agent was stopped: {}", stop.reason)),
                (None, true) => Some("not run, because the user interrupted the agent".to_owned()),
                (None, false) => self.must_not_run(),
            };
            match why {
                Some(why) => ran.responses.push(tool_response(call, &Json::string(&why), true)),
                None => self.run_call(call, offered, answer, &mut ran).await,
            }
        }
        ran
    }

    /// Returns the reason why no tool may run now, although no hook denies it.
    fn must_not_run(&self) -> Option<String> {
        let end = self.obstacle()?;
        Some(format!("not run, because the agent cannot continue: {}", end.detail().unwrap_or_default()))
    }

    /// Answers calls that are not run.
    pub(super) fn refuse_calls(&self, calls: &[RequestedCall], why: &str) -> RanCalls {
        let why = Json::string(&format!("not run, because the agent was stopped: {why}"));
        RanCalls {
            responses: calls.iter().map(|call| tool_response(call, &why, true)).collect(),
            ..RanCalls::default()
        }
    }

    async fn run_call(&self, call: &RequestedCall, offered: &[String], answer: Option<&str>, ran: &mut RanCalls) {
        let input = match self.check_call(call, offered) {
            Ok(input) => input,
            Err(problem) => {
                let (nothing, text) = (Json::null(), Json::string(&problem));
                let input = call.args.as_ref().unwrap_or(&nothing);
                self.view().show(&ViewEvent::ToolCall { id: &call.id, tool: &call.name, input });
                self.show_result(call, "failed", input, Some((&text, &text)), &ToolHooks::default());
                ran.responses.push(tool_response(call, &text, true));
                return;
            }
        };
        self.view().show(&ViewEvent::ToolCall { id: &call.id, tool: &call.name, input: &input });
        self.refresh_hooks();
        let request = ToolCall::new(&call.id, &call.name, input);
        self.set_judged_answer(answer);
        let run = |permit| {
            self.set_judged_answer(None);
            self.run_tool(permit)
        };
        let result = self.guard().tool_call(request, run).await;
        self.set_judged_answer(None);
        self.keep_receipt(&format!("tool {}", call.name), &result.receipt);
        let (end, failed) = match result.end {
            ToolEnd::Ran => ("ran", false),
            ToolEnd::Denied => ("denied", true),
            ToolEnd::Failed => ("failed", true),
        };
        let denied_by = self.hook_names(&result.receipt.denied_by());
        let content = match result.end {
            ToolEnd::Denied => denial(&denied_by, &result.content),
            ToolEnd::Ran | ToolEnd::Failed => result.content,
        };
        let shown = (result.visibility == Visibility::Shown).then_some((&result.display, &content));
        let rewritten_by = self.hook_names(&result.receipt.rewritten_by());
        self.show_result(call, end, &result.input, shown, &ToolHooks { denied_by, rewritten_by });
        ran.responses.push(tool_response(call, &content, failed));
        // A tool of this agent shows text, so anything else comes from a module.
        if !failed && result.display.as_str().is_none() {
            ran.details.set(call.id.clone(), result.display.clone());
        }
        ran.notes.push(result.notes);
        ran.stop = ran.stop.take().or(result.stop);
    }

    /// Keeps an answer from modules that look at the session before its tools run: the original records it after that. It
    /// is in the session all the same, so that it is not lost with the process.
    fn set_judged_answer(&self, answer: Option<&str>) {
        *lock_mutex(&self.host_state.judged_answer) = answer.map(str::to_owned);
    }

    /// Shows a result as the user sees it and as the model reads it, unless a hook hides both.
    fn show_result(
        &self,
        call: &RequestedCall,
        end: &str,
        input: &Json,
        shown: Option<(&Json, &Json)>,
        hooks: &ToolHooks,
    ) {
        let (display, content) = shown.unzip();
        let by: Vec<&str> = hooks.denied_by.iter().map(String::as_str).collect();
        let rewritten_by: Vec<&str> = hooks.rewritten_by.iter().map(String::as_str).collect();
        let (id, tool, by, rewritten_by) = (&call.id, &call.name, &by, &rewritten_by);
        self.view().show(&ViewEvent::ToolResult { id, tool, end, input, display, content, by, rewritten_by });
    }

    /// Checks a call before any hook runs for it.
    fn check_call(&self, call: &RequestedCall, offered: &[String]) -> Result<Json, String> {
        let Some(known) = tool::find(&call.name) else {
            let names: Vec<&str> = tool::TOOLS.iter().map(|tool| tool.name).collect();
            return Err(format!("there is no tool `{}`; the tools are {}", call.name, names.join(", ")));
        };
        if !offered.contains(&call.name) {
            return Err(format!("the tool `{}` is not available for this request", call.name));
        }
        let args = call.args.as_ref().map_err(|problem| {
            format!("the arguments of `{}` are not valid JSON or not an object: {problem}", call.name)
        })?;
        known.check(args).map_err(|failure| failure.0)?;
        Ok(args.clone())
    }

    async fn run_tool(&self, permit: Permit) -> Result<ToolOutput, ToolFailure> {
        // Showing the call, or recording the receipt of its hooks, may have failed since the check above.
        if let Some(why) = self.must_not_run() {
            return Err(ToolFailure(why));
        }
        match permit.tool() {
            TASK => self.run_task(permit).await,
            TODO => self.write_todos(&permit),
            _ => tool::run(permit, &self.parts.place, &self.token()).await,
        }
    }

    fn write_todos(&self, permit: &Permit) -> Result<ToolOutput, ToolFailure> {
        let Some(known) = tool::find(TODO) else { return Err(ToolFailure("there is no such tool".to_owned())) };
        let arguments = known.check(permit.input())?;
        let todos = arguments.get("todos").cloned().unwrap_or_else(Json::null);
        let count = todos.as_array().map_or(0, |todos| todos.len());
        let kept = self.session().append(SessionEntryKind::Todo, &[("todos", todos)]);
        kept.map_err(|error| ToolFailure(error.to_string()))?;
        let tasks = if count == 1 { "task" } else { "tasks" };
        Ok(ToolOutput::text(&format!("the list has {count} {tasks} now")))
    }
}

/// Returns what the model reads about a denied call: the hooks that denied it, and their reason. Without the names the
/// model would take the reason for an error of the tool, and try again.
fn denial(hooks: &[String], reason: &Json) -> Json {
    let names: Vec<String> = hooks.iter().map(|name| format!("`{name}`")).collect();
    match (names.as_slice(), reason.as_str()) {
        ([], _) | (_, None) => reason.clone(),
        ([name], Some(reason)) => Json::string(&format!("denied by hook {name}: {reason}")),
        (_, Some(reason)) => Json::string(&format!("denied by hooks {}: {reason}", names.join(", "))),
    }
}
