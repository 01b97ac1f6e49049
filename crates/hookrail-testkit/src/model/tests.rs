//! Every wire format over a real connection, streamed and not.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::{ModelServer, RequestKind, Script};

fn server(script: &Value) -> ModelServer {
    let script: Script = serde_json::from_value(script.clone()).unwrap();
    ModelServer::start(script, None).unwrap()
}

/// A step with a text and a call, then one with a text.
fn script(tool: &str) -> Value {
    json!({"steps": [{"text": "I write", "calls": [{"name": tool, "input": {"path": "a"}}]}, {"text": "all done"}]})
}

fn exchange(server: &ModelServer, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

fn post(server: &ModelServer, path: &str, body: &Value) -> String {
    let body = body.to_string();
    let (head, answer) =
        exchange(server, &format!("POST {path} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    answer
}

fn document(server: &ModelServer, path: &str, body: &Value) -> Value {
    serde_json::from_str(&post(server, path, body)).unwrap()
}

/// The names and the data of a stream's events.
fn events(server: &ModelServer, path: &str, body: &Value) -> Vec<(String, Value)> {
    let answer = post(server, path, body);
    let read = answer.split("\n\n").filter(|event| !event.is_empty()).map(|event| {
        let (name, data) = match event.split_once('\n') {
            Some((name, data)) => (name.strip_prefix("event: ").unwrap(), data),
            None => ("", event),
        };
        let data = data.strip_prefix("data: ").unwrap();
        (name.to_owned(), serde_json::from_str(data).unwrap_or_else(|_| json!(data)))
    });
    read.collect()
}

fn names(events: &[(String, Value)]) -> Vec<&str> {
    events.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn anthropic_messages() {
    let server = server(&script("Write"));
    let offered = json!([{"name": "Write", "input_schema": {}}]);
    let first = document(&server, "/v1/messages?beta=true", &json!({"model": "m", "tools": offered}));
    assert_eq!(first["content"][0], json!({"type": "text", "text": "I write"}));
    assert_eq!(first["content"][1]["input"], json!({"path": "a"}));
    assert_eq!((&first["stop_reason"], &first["model"]), (&json!("tool_use"), &json!("m")));
    let second = events(&server, "/v1/messages", &json!({"stream": true, "tools": offered}));
    let expected = ["message_start", "content_block_start", "content_block_delta", "content_block_stop"];
    assert_eq!(names(&second), [&expected[..], &["message_delta", "message_stop"]].concat());
    assert!(second.iter().all(|(name, data)| data["type"] == *name));
    assert_eq!(second[2].1["delta"], json!({"type": "text_delta", "text": "all done"}));
    assert_eq!(second[4].1["delta"]["stop_reason"], "end_turn");
}

#[test]
fn anthropic_calls_are_streamed_as_text() {
    let server = server(&script("Write"));
    let events = events(&server, "/v1/messages", &json!({"stream": true, "tools": [{"name": "Write"}]}));
    let delta = &events.iter().filter(|(name, _)| name == "content_block_delta").nth(1).unwrap().1["delta"];
    assert_eq!(*delta, json!({"type": "input_json_delta", "partial_json": "{\"path\":\"a\"}"}));
}

#[test]
fn openai_responses() {
    let server = server(&script("shell"));
    let offered = json!([{"type": "function", "name": "shell"}]);
    let first = events(&server, "/v1/responses", &json!({"stream": true, "tools": offered}));
    assert_eq!(names(&first).first(), Some(&"response.created"));
    let (name, last) = first.last().unwrap();
    assert_eq!(name, "response.completed");
    let call = &last["response"]["output"][1];
    assert_eq!((&call["type"], &call["arguments"]), (&json!("function_call"), &json!("{\"path\":\"a\"}")));
    assert_eq!(first.iter().filter(|(name, _)| name == "response.output_item.done").count(), 2);
    let second = document(&server, "/v1/responses", &json!({"tools": offered}));
    assert_eq!(second["output"][0]["content"][0]["text"], "all done");
}

#[test]
fn openai_responses_have_custom_calls_and_tools_in_the_input() {
    let script = json!({"steps": [{"calls": [{"name": "apply_patch", "custom": true, "input": "*** Begin Patch"}]}]});
    let server = server(&script);
    let input = json!([{"type": "additional_tools", "tools": [{"name": "apply_patch"}]}]);
    let answer = document(&server, "/v1/responses", &json!({"input": input}));
    assert_eq!(answer["output"][0]["type"], "custom_tool_call");
    assert_eq!(answer["output"][0]["input"], "*** Begin Patch");
}

#[test]
fn openai_chat_completions() {
    let server = server(&script("write"));
    let offered = json!([{"type": "function", "function": {"name": "write"}}]);
    let first = events(&server, "/v1/chat/completions", &json!({"stream": true, "tools": offered}));
    let delta = |at: usize| &first[at].1["choices"][0]["delta"];
    assert_eq!(delta(0)["content"], "I write");
    assert_eq!(delta(1)["tool_calls"][0]["function"], json!({"name": "write", "arguments": "{\"path\":\"a\"}"}));
    assert_eq!(first[2].1["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(first.last().unwrap().1, "[DONE]");
    let second = document(&server, "/v1/chat/completions", &json!({"tools": offered}));
    assert_eq!(second["choices"][0]["message"], json!({"role": "assistant", "content": "all done"}));
}

#[test]
fn gemini() {
    let mut script = script("write_file");
    script["steps"][1]["pieces"] = json!(4);
    let server = server(&script);
    let offered = json!([{"functionDeclarations": [{"name": "write_file"}]}]);
    let first = document(&server, "/v1beta/models/m:generateContent", &json!({"tools": offered}));
    let parts = &first["candidates"][0]["content"]["parts"];
    assert_eq!((&parts[0]["text"], &parts[1]["functionCall"]["args"]), (&json!("I write"), &json!({"path": "a"})));
    let path = "/v1beta/models/m:streamGenerateContent?alt=sse";
    let second = events(&server, path, &json!({"tools": offered}));
    let texts = second.iter().map(|(_, data)| data["candidates"][0]["content"]["parts"][0]["text"].as_str().unwrap());
    assert_eq!(texts.collect::<Vec<_>>(), ["al", "l ", "do", "ne"]);
    let ends = second.iter().map(|(_, data)| data["candidates"][0]["finishReason"].clone());
    assert_eq!(ends.collect::<Vec<_>>(), [Value::Null, Value::Null, Value::Null, json!("STOP")]);
}

#[test]
fn side_requests_use_up_no_step_and_all_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let script = serde_json::from_value(script("Write")).unwrap();
    let server = ModelServer::start(script, Some(std::fs::File::create(&path).unwrap())).unwrap();
    let side = document(&server, "/v1/messages", &json!({"messages": ["a title"]}));
    assert_eq!(side["content"][0]["text"], "ok");
    for _ in 0..3 {
        document(&server, "/v1/messages", &json!({"tools": [{"name": "Write"}]}));
    }
    exchange(&server, "GET /v1/models HTTP/1.1\r\n\r\n");
    let kinds = server.requests().into_iter().map(|request| (request.kind, request.step));
    let main = |step| (RequestKind::Main, Some(step));
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [(RequestKind::Side, None), main(0), main(1), main(2), (RequestKind::Other, None)]
    );
    let log = std::fs::read_to_string(path).unwrap();
    let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert_eq!((&last["kind"], &last["n"], log.lines().count()), (&json!("other"), &json!(5), 5));
}

#[test]
fn bodies_may_come_in_chunks_and_a_connection_may_be_kept() {
    let server = server(&json!({}));
    let request =
        "POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n";
    let (_, answer) = exchange(&server, &format!("{request}{request}"));
    assert_eq!(answer.matches("\"text\":\"ok\"").count(), 2, "{answer}");
    assert_eq!(server.requests()[1].body, json!({"a": 1}));
}

#[test]
fn a_page_that_does_not_exist_is_not_found() {
    let (head, _) = exchange(&server(&json!({})), "GET /nothing HTTP/1.1\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 404"), "{head}");
}
