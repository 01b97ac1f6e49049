use std::time::Duration;

use hookrail::Json;

use super::*;
use crate::message::{FromServer, Message as _, ToServer};
use crate::payload::{
    Cancel, Cancelled, Hello, Lifecycle, Phase, Ping, Reload, Reloaded, Request, Subscribe, WaitFor, Welcome,
};
use crate::watch::WatchMode;

fn refused(line: &str) -> (Option<String>, String, String) {
    let refusal = ToServer::decode(line.as_bytes()).unwrap_err();
    (refusal.correlation_id, refusal.error.code_name().to_owned(), refusal.error.message)
}

#[test]
fn every_message_survives_the_line() {
    let input = Json::parse(r#"{"tool_input":{"n":9007199254740993,"x":1.0}}"#).unwrap();
    let mut hello = Hello::new(1).from_client("me");
    hello.correlation_id = Some("h".to_owned());
    let messages = [
        ToServer::Request(Box::new(
            Request::new("BeforeTool", input).named("a\"b").in_project("/p").traced("t").waiting_for(WaitFor::All),
        )),
        ToServer::Hello(hello),
        ToServer::Cancel(Cancel::new("a")),
        ToServer::Subscribe(Subscribe::new(true)),
        ToServer::Ping(Ping::named("p")),
        ToServer::Ping(Ping::default()),
        ToServer::Reload(Reload { correlation_id: Some("r".to_owned()) }),
        ToServer::Reload(Reload::default()),
    ];
    for message in messages {
        let line = message.encode(usize::MAX);
        let back = ToServer::decode(line.as_bytes()).unwrap();
        assert_eq!(format!("{message:?}"), format!("{back:?}"), "{line}");
        assert!(!line.contains('\n'));
    }
    let answers = [
        FromServer::Response(Box::new(Response::refused("x", BusError::invalid("no")))),
        FromServer::Pong(Ping::named("p")),
        FromServer::Cancelled(Cancelled { correlation_id: "x".to_owned(), found: true }),
        FromServer::Lifecycle(Lifecycle {
            correlation_id: "x".to_owned(),
            phase: Phase::HookEnded,
            hook: Some("h".to_owned()),
            hooks: Some(2),
            duration: Some(Duration::from_micros(1_500)),
        }),
        FromServer::Welcome(Welcome {
            correlation_id: None,
            protocol: 1,
            server: "s".to_owned(),
            capabilities: vec!["cancel".to_owned()],
            line_limit: 1,
            in_flight_limit: 2,
            watch: Some(WatchMode::Polling),
            revision: Some(3),
            configuration_age: Some(Duration::from_micros(2_500)),
            kept: Some(vec!["/p/.llxprt/settings.json".to_owned()]),
            system_unusable: Some(true),
        }),
        FromServer::Reloaded(Reloaded {
            correlation_id: Some("r".to_owned()),
            success: false,
            projects: 2,
            revision: Some(4),
            kept: vec!["a".to_owned()],
            problems: vec!["b".to_owned()],
        }),
    ];
    for answer in answers {
        let line = answer.encode(usize::MAX);
        assert_eq!(format!("{answer:?}"), format!("{:?}", FromServer::decode(line.as_bytes()).unwrap()), "{line}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let request = |payload: &str| refused(&format!(r#"{{"type":"HOOK_EXECUTION_REQUEST","payload":{payload}}}"#)).2;
    assert_eq!(request(r#"{"input":{}}"#), "`eventName` is missing");
    assert_eq!(request(r#"{"eventName":"BeforeTool"}"#), "`input` is missing");
    assert_eq!(request(r#"{"eventName":1,"input":{}}"#), "`eventName` must be a string, not a number");
    assert_eq!(request(r#"{"eventName":"x","input":[]}"#), "`input` must be an object, not a list");
    assert_eq!(request(r#"{"eventName":"x","input":{},"project":1}"#), "`project` must be a string, not a number");
    assert_eq!(
        request(r#"{"eventName":"x","input":{},"wait":"long"}"#),
        "`wait` must be one of `answers`, `all`, not this"
    );
    assert_eq!(request("[]"), "`payload` must be an object");
    assert_eq!(refused(r#"{"type":"HOOK_EXECUTION_REQUEST"}"#).2, "`payload` is missing");
    assert_eq!(
        refused(r#"{"payload":{"correlationId":"c"}}"#),
        (Some("c".into()), "invalid_request".into(), "`type` is missing".into())
    );
    assert_eq!(refused(r#"{"type":7}"#).2, "`type` must be a string");
    assert_eq!(
        refused(r#"{"type":"hello","payload":{"protocol":-1}}"#).2,
        "`protocol` must be a whole number, not this"
    );
    assert_eq!(
        refused(r#"{"type":"dance","payload":{"correlationId":"c"}}"#),
        (Some("c".into()), "unsupported_type".into(), "no message has the type `dance`".into())
    );
    for line in ["", "nonsense", "[1]", "{", "\u{0}", "{\"type\":\"ping\"} {}"] {
        assert_eq!(refused(line).1, "invalid_request", "{line}");
    }
}

#[test]
fn an_optional_field_may_be_null() {
    let line = r#"{"type":"HOOK_EXECUTION_REQUEST","payload":{"correlationId":null,"eventName":"x","input":{},"project":null}}"#;
    assert!(ToServer::decode(line.as_bytes()).is_ok());
}

#[test]
fn a_duration_that_was_written_reads_the_same() {
    let line = |written: &str| {
        format!(
            r#"{{"type":"HOOK_EXECUTION_RESPONSE","payload":{{"correlationId":"c","success":true,"durationMs":{written},"output":{{}},"outcome":{{}}}}}}"#
        )
    };
    let took = |line: &str| match FromServer::decode(line.as_bytes()) {
        Ok(FromServer::Response(response)) => response.took,
        other => panic!("{other:?}"),
    };
    let written_again = |line: &str| FromServer::decode(line.as_bytes()).unwrap().encode(usize::MAX);
    // What no run can take is not taken for a duration, and the rest of the message stands.
    for odd in ["7777777777777777777", "1e300", "1e12", "-1"] {
        assert_eq!(took(&line(odd)), Duration::ZERO, "{odd}");
    }
    for (given, micros) in [("0.5", 500), ("2", 2_000), ("0.0004", 0), ("999999999999.999", 999_999_999_999_999)] {
        assert_eq!(took(&line(given)), Duration::from_micros(micros), "{given}");
    }
    for micros in (0..50).map(|power| (1_u64 << power) - 1) {
        let written = line(&(micros as f64 / 1_000.0).to_string());
        assert_eq!(took(&written), Duration::from_micros(micros));
        let once = written_again(&written);
        assert_eq!(once, written_again(&once));
    }
}

#[test]
fn the_order_of_type_and_payload_changes_nothing() {
    let payloads = [
        r#"{"correlationId":"c","eventName":"x","input":{"a":[1, 2],"b":"\u0041"},"more":[{}]}"#,
        r#"{"eventName":"x","input":{"a":1,"a":2}}"#,
        r#"{"eventName":"x","input":{},"more":1,"more":2}"#,
        r#"{"eventName":"x","input":{},"input":{}}"#,
        r#"{"eventName":"x","input":{"a":}}"#,
        r#"{"eventName":"x","input":{},"project":["/p"]}"#,
        "null",
        "[]",
    ];
    for payload in payloads {
        let read = |line: String| match ToServer::decode(line.as_bytes()) {
            Ok(message) => format!("{message:?}"),
            // Where in the line it is depends on the order.
            Err(refusal) => format!("{:?} {}", refusal.correlation_id, refusal.error.message)
                .split(" at line")
                .next()
                .unwrap_or_default()
                .to_owned(),
        };
        let one = read(format!(r#"{{"type":"HOOK_EXECUTION_REQUEST","payload":{payload}}}"#));
        let two = read(format!(r#"{{"payload":{payload},"other":null,"type":"HOOK_EXECUTION_REQUEST"}}"#));
        assert_eq!(one, two);
    }
}

#[test]
fn what_is_written_twice_is_refused_at_every_level_above_the_input() {
    assert_eq!(
        refused(r#"{"type":"ping","payload":{"correlationId":"c","more":1,"mor\u0065":2}}"#),
        (Some("c".into()), "invalid_request".into(), "duplicate key `more`".into())
    );
    for line in [
        r#"{"type":"ping","type":"ping"}"#,
        r#"{"type":"ping","payload":{},"payload":{}}"#,
        r#"{"payload":{},"type":"ping","payload":{}}"#,
    ] {
        assert_eq!(refused(line).1, "invalid_request", "{line}");
    }
}

#[test]
fn a_message_that_need_not_say_anything_may_come_without_a_payload() {
    for line in [r#"{"type":"ping"}"#, r#"{"type":"reload","payload":null}"#, r#"{"payload":{},"type":"ping"}"#] {
        assert!(ToServer::decode(line.as_bytes()).is_ok(), "{line}");
    }
    assert_eq!(refused(r#"{"type":"ping","payload":7}"#).2, "`payload` must be an object");
    assert_eq!(refused(r#"{"type":"cancel","payload":null}"#).2, "`payload` is missing");
}
