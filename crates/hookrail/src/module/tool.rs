//! Tools that run only when the hooks allow it.

use super::HostFuture;
use crate::guard::{Guard, Permit, ToolCall, ToolFailure, ToolOutput, ToolResult};
use crate::json::Json;

/// A tool of the embedding program.
pub trait Tool: Send + Sync {
    /// The name by which a model calls it.
    fn name(&self) -> &str;

    /// Runs the tool with the input of the permit, which may differ from what the model asked for.
    fn execute(&self, permit: Permit) -> HostFuture<'_, Result<ToolOutput, ToolFailure>>;
}

/// A tool with the hooks around it: those before it can block it, those after it can replace its result.
///
/// It wraps with a [`Guard`], so hooks of all dialects take part, a hook that wants the user asked has the user asked, and a
/// rewritten input reaches the tool. A hook before the tool that fails blocks it. The result of a tool that failed stays the
/// failure.
///
/// ```
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// # runtime.block_on(async {
/// use hookrail::guard::{Guard, Permit, ToolEnd, ToolFailure, ToolOutput};
/// use hookrail::module::{HookToolWrapper, HostFuture, Tool};
/// use hookrail::{HookSystem, Json};
///
/// struct Echo;
///
/// impl Tool for Echo {
///     fn name(&self) -> &str {
///         "echo"
///     }
///
///     fn execute(&self, permit: Permit) -> HostFuture<'_, Result<ToolOutput, ToolFailure>> {
///         Box::pin(async move { Ok(ToolOutput::text(permit.input().text())) })
///     }
/// }
///
/// let hooks = HookSystem::builder("/project").build(); // .runner(hookrail_js::modules())
/// let echo = HookToolWrapper::new(Echo, Guard::new(hooks, "session-1"));
/// let result = echo.execute("call-1", Json::parse(r#"{"say": "hello"}"#).unwrap()).await;
/// match result.end {
///     ToolEnd::Ran => println!("the model reads {}", result.content.text()),
///     // The model reads why.
///     ToolEnd::Denied | ToolEnd::Failed => println!("it did not work: {}", result.content.text()),
///     other => println!("{other:?}"),
/// }
/// if let Some(stop) = &result.stop {
///     println!("the agent must stop: {}", stop.reason);
/// }
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct HookToolWrapper<T> {
    tool: T,
    guard: Guard,
}

impl<T: Tool> HookToolWrapper<T> {
    /// Wraps a tool.
    #[must_use]
    pub fn new(tool: T, guard: Guard) -> Self {
        Self { tool, guard }
    }

    /// The tool's own name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.tool.name()
    }

    /// The tool without its hooks, for what is not a call.
    #[must_use]
    pub fn tool(&self) -> &T {
        &self.tool
    }

    /// Runs the tool through the hooks.
    pub async fn execute(&self, call_id: &str, input: Json) -> ToolResult {
        let call = ToolCall::new(call_id, self.tool.name(), input);
        self.guard.tool_call(call, |permit| self.tool.execute(permit)).await
    }
}

/// Wraps several tools with the hooks of one session.
///
/// ```
/// use hookrail::HookSystem;
/// use hookrail::guard::{Guard, Permit, ToolFailure, ToolOutput};
/// use hookrail::module::{HostFuture, Tool, wrap_tools};
///
/// struct Named(&'static str);
///
/// impl Tool for Named {
///     fn name(&self) -> &str {
///         self.0
///     }
///
///     fn execute(&self, _permit: Permit) -> HostFuture<'_, Result<ToolOutput, ToolFailure>> {
///         Box::pin(async { Ok(ToolOutput::text("done")) })
///     }
/// }
///
/// let guard = Guard::new(HookSystem::builder("/project").build(), "session-1");
/// let tools = wrap_tools([Named("read"), Named("write")], &guard);
/// assert_eq!(tools[1].name(), "write");
/// ```
#[must_use]
pub fn wrap_tools<T: Tool>(tools: impl IntoIterator<Item = T>, guard: &Guard) -> Vec<HookToolWrapper<T>> {
    tools.into_iter().map(|tool| HookToolWrapper::new(tool, guard.clone())).collect()
}
