//! A whole agent with a scripted model and two tools, which applies every effect of every event by hand.

#![expect(clippy::indexing_slicing, reason = "a member that a JSON value does not have reads as null")]

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::fs;

use hookrail::dialect::llxprt::{from_hook_request, from_hook_response};
use hookrail::{Decision, Effects, Environment, EventKind, HookSystem, Json, Outcome, Stop};
use serde_json::{Value, json};

/// What the sample project's hooks do, so that there is something to apply.
const SETTINGS: &str = r#"{
  "hooksConfig": { "enabled": true },
  "hooks": {
    "SessionStart": [{ "hooks": [
      { "type": "command", "command": "echo '{\"hookSpecificOutput\":{\"additionalContext\":\"Use tabs.\"}}'" }] }],
    "BeforeAgent": [{ "hooks": [
      { "type": "command", "command": "echo '{\"hookSpecificOutput\":{\"additionalContext\":\"Be brief.\"}}'" }] }],
    "BeforeToolSelection": [{ "hooks": [
      { "type": "command", "command": "echo '{\"hookSpecificOutput\":{\"toolConfig\":{\"allowedFunctionNames\":[\"read_file\",\"write_file\"]}}}'" }] }],
    "BeforeModel": [{ "hooks": [
      { "type": "command", "command": "echo '{\"hookSpecificOutput\":{\"llm_request\":{\"config\":{\"temperature\":0}}}}'" }] }],
    "AfterModel": [{ "hooks": [
      { "type": "command", "command": "sed -n 's/.*sk-secret.*/{\"hookSpecificOutput\":{\"llm_response\":{\"text\":\"The key is hidden.\"}}}/p'" }] }],
    "BeforeTool": [
      { "matcher": "^write_file$", "hooks": [
        { "type": "command", "command": "if grep -q '\\.env'; then echo 'no secrets in files' >&2; exit 2; fi" },
        { "type": "command", "command": "sed -n 's/.*big.txt.*/{\"decision\":\"ask\",\"reason\":\"a big file\"}/p'" }] },
      { "matcher": "^read_file$", "hooks": [
        { "type": "command", "command": "echo '{\"hookSpecificOutput\":{\"tool_input\":{\"path\":\"notes.md\"}}}'" }] }],
    "AfterTool": [{ "matcher": "^read_file$", "hooks": [
      { "type": "command", "command": "echo '{\"suppressOutput\":true,\"hookSpecificOutput\":{\"additionalContext\":\"It is old.\"}}'" }] }],
    "AfterAgent": [{ "hooks": [
      { "type": "command", "command": "grep -q '\"stop_hook_active\":true' || { echo 'say more' >&2; exit 2; }" }] }]
  }
}"#;

/// What the scripted model does next.
enum Turn {
    Call(&'static str, Value),
    Say(&'static str),
}

struct Agent {
    hooks: HookSystem,
    /// The model's script.
    script: VecDeque<Turn>,
    /// The files the two tools work on.
    files: BTreeMap<String, String>,
    /// What the model reads: contents with a role and parts.
    conversation: Vec<Value>,
    /// What the user sees.
    shown: Vec<String>,
    /// What the session keeps beside the conversation.
    entries: Vec<Json>,
    /// What the user says when asked.
    user_agrees: fn(&str) -> bool,
}

impl Agent {
    // region: everywhere
    /// What every event has in common. A stop is obeyed after the event's other effects are applied.
    fn note(&mut self, outcome: &Outcome) {
        for diagnostic in &outcome.diagnostics {
            self.shown.push(diagnostic.to_string());
        }
        if let Some(message) = &outcome.effects.system_message {
            self.shown.push(message.clone());
            self.say("user", message);
        }
        self.conversation.extend(outcome.effects.messages.iter().map(Json::to_value));
        self.entries.extend(outcome.effects.entries.iter().cloned());
    }

    fn stop(effects: &Effects) -> Result<(), Stop> {
        effects.stop.clone().map_or(Ok(()), Err)
    }

    /// Why an operation must not happen. `shown` is the final input, which is what the user is asked about.
    fn refused(&self, effects: &Effects, shown: &str) -> Option<String> {
        let reason = || effects.reason.clone().unwrap_or_else(|| "a hook said no".to_owned());
        match effects.decision {
            Some(Decision::Deny) => Some(reason()),
            // Without a user to ask, this is a deny.
            Some(Decision::Ask) => (!(self.user_agrees)(shown)).then(reason),
            // An allow never lifts a question or a deny of the host's own.
            _ => None,
        }
    }
    // endregion

    // region: session
    async fn session_start(&mut self) -> Result<(), Stop> {
        let outcome = self.hooks.fire_session_start("startup").await;
        self.note(&outcome);
        if let Some(context) = &outcome.effects.additional_context {
            self.say("user", context);
        }
        Self::stop(&outcome.effects)
    }

    async fn session_end(&mut self) {
        let outcome = self.hooks.fire_session_end("exit").await;
        self.note(&outcome);
    }
    // endregion

    // region: prompt
    /// The prompt to work on; none when it was refused.
    async fn prompt(&mut self, prompt: &str) -> Result<Option<String>, Stop> {
        let outcome = self.hooks.fire_prompt(prompt).await;
        self.note(&outcome);
        let effects = &outcome.effects;
        // The whole new prompt: `additional_context` is already in it.
        let prompt = effects.prompt.clone().unwrap_or_else(|| prompt.to_owned());
        if let Some(reason) = self.refused(effects, &prompt) {
            self.shown.push(reason.clone());
            self.say("model", &reason);
            Self::stop(effects)?;
            return Ok(None);
        }
        Self::stop(effects)?;
        self.say("user", &prompt);
        Ok(Some(prompt))
    }
    // endregion

    // region: model
    /// One call of the model, with everything that hooks make of it. The conversation itself is never rewritten.
    async fn model(&mut self) -> Result<Value, Stop> {
        let tools =
            json!([{"functionDeclarations": [{"name": "read_file"}, {"name": "write_file"}, {"name": "shell"}]}]);
        let mut request = json!({"model": "m-1", "contents": self.conversation, "tools": tools});

        let outcome = self.hooks.fire_tool_selection(Json::from(request.clone())).await;
        self.note(&outcome);
        Self::stop(&outcome.effects)?;
        if let Some(config) = &outcome.effects.tool_config {
            restrict(&mut request, &config.to_value());
        }

        let outcome = self.hooks.fire_before_model(Json::from(request.clone())).await;
        self.note(&outcome);
        let effects = &outcome.effects;
        // A response of a hook stands in for the model's, with or without a deny.
        if let Some(response) = &effects.llm_response {
            Self::stop(effects)?;
            return Ok(response.to_value());
        }
        let request = match &effects.llm_request {
            Some(changed) => from_hook_request(changed, &Json::from(request)),
            None => Json::from(request),
        };
        if let Some(reason) = self.refused(effects, request.text()) {
            Self::stop(effects)?;
            self.shown.push(reason);
            return Ok(json!({"candidates": []}));
        }
        Self::stop(effects)?;
        let response = self.call_model(&request);

        let outcome = self.hooks.fire_after_model(request, response.clone()).await;
        self.note(&outcome);
        let effects = &outcome.effects;
        let response = match &effects.llm_response {
            Some(changed) => from_hook_response(changed, &response),
            None => response,
        };
        Self::stop(effects)?;
        let response = response.to_value();
        // Nothing was shown so far: a hook may have changed or hidden it.
        if !effects.suppress_output {
            self.shown.extend(text_of(&response));
        }
        Ok(response)
    }
    // endregion

    // region: tool
    /// One tool call. The text is what the model reads as the result.
    async fn tool(&mut self, name: &str, input: Value) -> Result<String, Stop> {
        let outcome = self.hooks.fire_before_tool(name, Json::from(input.clone())).await;
        self.note(&outcome);
        let effects = &outcome.effects;
        // The whole new input. If no call can be made of it, the call fails; the old input is never used.
        let input = effects.tool_input.as_ref().map_or(input, Json::to_value);
        if let Some(reason) = self.refused(effects, &input.to_string()) {
            Self::stop(effects)?;
            return Ok(reason);
        }
        Self::stop(effects)?;
        let (mut content, failed) = match self.run_tool(name, &input) {
            Ok(text) => (text, false),
            Err(text) => (text, true),
        };
        let mut response = json!({"llmContent": content, "returnDisplay": content});
        if failed {
            response["error"] = json!({"message": content});
        }

        let outcome = self.hooks.fire_after_tool(name, Json::from(input), Json::from(response)).await;
        self.note(&outcome);
        let effects = &outcome.effects;
        // Other dialects can replace the result: a text, or an object with `content` and `details`.
        if let Some(replaced) = &effects.tool_output {
            let value = replaced.to_value();
            content = value.as_str().map_or_else(|| value["content"].to_string(), str::to_owned);
        }
        if !effects.suppress_output {
            self.shown.push(content.clone());
        }
        if let Some(context) = &effects.additional_context {
            content = format!("{content}\n\n{context}");
        }
        Self::stop(effects)?;
        Ok(content)
    }
    // endregion

    // region: end
    /// Whether the agent is done. A deny sends it back with the reason as its next instruction.
    async fn agent_end(&mut self, prompt: &str, answer: &str, sent_back: bool) -> Result<bool, Stop> {
        let event = self
            .hooks
            .event(EventKind::AgentEnd)
            .with_text("prompt", prompt)
            .with_text("prompt_response", answer)
            .with("stop_hook_active", Json::boolean(sent_back));
        let outcome = self.hooks.fire(event).await;
        self.note(&outcome);
        let effects = &outcome.effects;
        if effects.clear_context {
            self.conversation.clear();
        }
        let refused = self.refused(effects, answer);
        Self::stop(effects)?;
        if let Some(reason) = &refused {
            self.say("user", reason);
        }
        Ok(refused.is_none())
    }
    // endregion

    // region: others
    /// Before the conversation is compressed, and when the user is wanted: nothing but a message and a stop.
    async fn tell(&mut self, kind: EventKind, fields: Value) -> Result<(), Stop> {
        let event = self.hooks.event(kind).with_payload(&Json::from(fields));
        let Ok(event) = event else { return Ok(()) };
        let outcome = self.hooks.fire(event).await;
        self.note(&outcome);
        Self::stop(&outcome.effects)
    }
    // endregion

    // region: loop
    async fn work(&mut self, prompt: &str) -> Result<(), Stop> {
        self.session_start().await?;
        let Some(prompt) = self.prompt(prompt).await? else { return Ok(()) };
        let mut sent_back = false;
        loop {
            let response = self.model().await?;
            // What hooks made of the response is what the conversation keeps.
            self.conversation.extend(response["candidates"][0].get("content").cloned());
            if let Some((name, input)) = call_of(&response) {
                let result = self.tool(&name, input).await?;
                self.conversation.push(json!({"role": "user", "parts": [{"functionResponse": {
                    "name": name, "response": {"output": result}}}]}));
                continue;
            }
            let answer = text_of(&response).unwrap_or_default();
            // The agent remembers that it was sent back, or it could go round for ever.
            if self.agent_end(&prompt, &answer, sent_back).await? || sent_back {
                return Ok(());
            }
            sent_back = true;
        }
    }
    // endregion

    fn say(&mut self, role: &str, text: &str) {
        self.conversation.push(json!({"role": role, "parts": [{"text": text}]}));
    }

    fn call_model(&mut self, request: &Json) -> Json {
        // The hook of BeforeModel made it so.
        assert!(request.text().contains(r#""temperature":0"#));
        // The hook of BeforeToolSelection took this tool away.
        assert!(!request.text().contains(r#""name":"shell""#));
        let part = match self.script.pop_front() {
            Some(Turn::Call(name, input)) => json!({"functionCall": {"name": name, "args": input}}),
            Some(Turn::Say(text)) => json!({"text": text}),
            None => json!({"text": "I have nothing more to say."}),
        };
        Json::from(json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]}))
    }

    fn run_tool(&mut self, name: &str, input: &Value) -> Result<String, String> {
        let path = input["path"].as_str().ok_or("a path is needed")?.to_owned();
        match name {
            "read_file" => self.files.get(&path).cloned().ok_or_else(|| format!("{path} does not exist")),
            "write_file" => {
                self.files.insert(path, input["content"].as_str().unwrap_or_default().to_owned());
                Ok("written".to_owned())
            }
            _ => Err(format!("there is no tool {name}")),
        }
    }
}

/// The request with only the tools that hooks left.
fn restrict(request: &mut Value, config: &Value) {
    let allowed = config["allowedFunctionNames"].as_array().cloned();
    let none = config["mode"] == "NONE";
    for group in request["tools"].as_array_mut().into_iter().flatten() {
        if let Some(declared) = group["functionDeclarations"].as_array_mut() {
            declared.retain(|tool| !none && allowed.as_ref().is_none_or(|names| names.contains(&tool["name"])));
        }
    }
    request["toolConfig"] = config.clone();
}

fn parts(response: &Value) -> impl Iterator<Item = &Value> {
    response["candidates"][0]["content"]["parts"].as_array().into_iter().flatten()
}

fn text_of(response: &Value) -> Option<String> {
    parts(response).find_map(|part| part.as_str().or_else(|| part["text"].as_str())).map(str::to_owned)
}

fn call_of(response: &Value) -> Option<(String, Value)> {
    let call = parts(response).find_map(|part| part.get("functionCall"))?;
    Some((call["name"].as_str()?.to_owned(), call["args"].clone()))
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (project, home) = (tempfile::tempdir()?, tempfile::tempdir()?);
    fs::create_dir(project.path().join(".llxprt"))?;
    fs::write(project.path().join(".llxprt/settings.json"), SETTINGS)?;
    let environment: Environment = std::env::vars_os().collect();
    let environment = environment.with("HOME", home.path());
    let hooks = HookSystem::builder(project.path()).environment(environment).trust_project().build();
    let script = [
        Turn::Call("write_file", json!({"path": ".env", "content": "TOKEN=1"})),
        Turn::Call("write_file", json!({"path": "big.txt", "content": "…"})),
        Turn::Call("read_file", json!({"path": "anything"})),
        Turn::Say("It is sk-secret."),
        Turn::Say("All is done."),
    ];
    let mut agent = Agent {
        hooks,
        script: script.into(),
        files: [("notes.md".to_owned(), "old notes".to_owned())].into(),
        conversation: Vec::new(),
        shown: Vec::new(),
        entries: Vec::new(),
        user_agrees: |input| !input.contains("big.txt"),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let ended = runtime.block_on(async {
        let ended = agent.work("look around").await;
        agent.tell(EventKind::BeforeCompact, json!({"trigger": "manual"})).await?;
        let permission = json!({"notification_type": "ToolPermission", "message": "may I?", "details": {}});
        agent.tell(EventKind::Notification, permission).await?;
        agent.session_end().await;
        ended
    });
    assert_eq!(ended, Ok(()));

    let conversation = Value::from(agent.conversation).to_string();
    for said in [
        "Use tabs.",
        "look around\\n\\nBe brief.",
        "no secrets in files",
        "a big file",
        "old notes\\n\\nIt is old.",
        "The key is hidden.",
        "say more",
        "All is done.",
    ] {
        assert!(conversation.contains(said), "{said}: {conversation}");
    }
    assert!(!conversation.contains("sk-secret"));
    assert!(!agent.files.contains_key(".env") && !agent.files.contains_key("big.txt"));
    // The result of read_file is hidden from the user, and the key from the user and the model.
    assert!(!agent.shown.iter().any(|text| text.contains("old notes") || text.contains("sk-secret")));
    assert!(agent.shown.iter().any(|text| text == "The key is hidden."));
    assert!(agent.entries.is_empty());
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        super::main().unwrap();
    }
}
