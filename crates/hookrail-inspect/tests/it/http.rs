//! The HTTP layer: who is answered, and with which headers.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::sync::atomic::Ordering;

use hookrail_inspect::TesterMode;
use serde_json::json;

use crate::lab::Lab;
use crate::raw;
use crate::records;

#[test]
fn records_need_the_session_and_its_cookie() {
    let lab = Lab::with_events(3);
    let session = lab.sign_in();
    lab.wait_for_rows(&session, 3);
    let path = format!("{}record/1", session.api);
    assert_eq!(lab.get(&path, std::slice::from_ref(&session.header)).json()["seq"], 2);
    let wrong = format!("Cookie: hookrail-{}={}", lab.address.port(), "0".repeat(64));
    let other_name = session.header.replace("hookrail-", "hookrail_");
    for headers in [vec![], vec![wrong], vec![other_name], vec![format!("Authorization: Bearer {}", lab.token())]] {
        assert_eq!(lab.get(&path, &headers).status, 401, "{headers:?}");
    }
    // The cookie alone is not enough: a server on another port of this machine may have seen it, but not the path.
    let guessed = format!("/api/{}/record/1", "0".repeat(64));
    assert_eq!(lab.get(&guessed, std::slice::from_ref(&session.header)).status, 401);
    assert_eq!(lab.get("/api/", std::slice::from_ref(&session.header)).status, 401);
}

#[test]
fn a_wrong_token_gets_no_session() {
    let lab = Lab::with_events(0);
    let mut almost = lab.token().to_owned();
    almost.pop();
    almost.push('x');
    for token in ["", "0", &almost, &"0".repeat(64)] {
        let answer = lab.post("/session", &[], &json!({ "token": token }).to_string());
        assert_eq!((answer.status, answer.header("set-cookie")), (401, None), "{token}");
    }
    for body in ["", "{}", "[]", "token", "{\"token\":1}"] {
        assert_eq!(lab.post("/session", &[], body).status, 400, "{body}");
    }
}

#[test]
fn the_cookie_is_for_the_page_alone() {
    let lab = Lab::with_events(0);
    let session = lab.sign_in();
    assert!(session.cookie.starts_with(&format!("hookrail-{}=", lab.address.port())), "{}", session.cookie);
    assert!(
        session.cookie.contains("; HttpOnly") && session.cookie.contains("; SameSite=Strict"),
        "{}",
        session.cookie
    );
    assert!(session.cookie.contains(&format!("; Path={}", session.api)), "{}", session.cookie);
    assert!(!session.cookie.contains(lab.token()), "the cookie is not the token");
}

#[test]
fn other_names_of_this_machine_are_misdirected() {
    let lab = Lab::with_events(0);
    let port = lab.address.port();
    for host in [
        "evil.example",
        &format!("evil.example:{port}"),
        "127.0.0.1",
        &format!("localhost:{port}"),
        &format!("127.0.0.1.evil.example:{port}"),
        "",
    ] {
        let answer = raw::send(lab.address, "GET /", &[format!("Host: {host}")], "");
        assert_eq!(answer.status, 421, "{host}");
    }
    let two = [lab.host(), "Host: evil.example".to_owned()];
    assert!(matches!(raw::send(lab.address, "GET /", &two, "").status, 400 | 421));
    assert_eq!(raw::send(lab.address, "GET http://evil.example/", &[lab.host()], "").status, 421);
    assert!(matches!(raw::send(lab.address, "GET /", &[], "").status, 400 | 421));
}

#[test]
fn pages_of_other_origins_are_refused_another_port_included() {
    let lab = Lab::with_events(1);
    let session = lab.sign_in();
    let path = format!("{}rows/0", session.api);
    let other_port = lab.address.port().wrapping_add(1);
    for origin in [
        "http://evil.example",
        "null",
        &format!("http://127.0.0.1:{other_port}"),
        &format!("https://{}", lab.address),
        &format!("http://localhost:{}", lab.address.port()),
    ] {
        let headers = [session.header.clone(), format!("Origin: {origin}")];
        assert_eq!(lab.get(&path, &headers).status, 403, "{origin}");
    }
    for site in ["same-site", "cross-site", "none"] {
        let headers = [session.header.clone(), format!("Sec-Fetch-Site: {site}")];
        assert_eq!(lab.get(&path, &headers).status, 403, "{site}");
    }
    let own = [session.header, lab.origin(), "Sec-Fetch-Site: same-origin".to_owned()];
    assert_eq!(lab.get(&path, &own).status, 200);
    // A form of another page: without `Origin`, or with a foreign one.
    let token = json!({ "token": lab.token() }).to_string();
    assert_eq!(raw::send(lab.address, "POST /session", &[lab.host()], &token).status, 403);
    let foreign = [lab.host(), "Origin: http://evil.example".to_owned()];
    assert_eq!(raw::send(lab.address, "POST /session", &foreign, &token).status, 403);
}

#[test]
fn the_page_opens_from_anywhere_and_never_inside_of_another() {
    let lab = Lab::with_events(0);
    let from = |site: &str, mode: &str, dest: &str| {
        let headers =
            [format!("Sec-Fetch-Site: {site}"), format!("Sec-Fetch-Mode: {mode}"), format!("Sec-Fetch-Dest: {dest}")];
        lab.get("/", &headers).status
    };
    assert_eq!(from("none", "navigate", "document"), 200);
    assert_eq!(from("cross-site", "navigate", "document"), 200);
    assert_eq!(from("cross-site", "navigate", "iframe"), 403);
    assert_eq!(from("same-site", "no-cors", "script"), 403);
    assert_eq!(lab.get("/app.js", &["Sec-Fetch-Site: cross-site".to_owned()]).status, 403);
}

#[test]
fn every_answer_has_the_headers_that_confine_the_page() {
    let lab = Lab::with_events(0);
    let session = lab.sign_in();
    let foreign = raw::send(lab.address, "GET /", &["Host: evil.example".to_owned()], "");
    let answers = [
        lab.get("/", &[]),
        lab.get("/app.js", &[]),
        lab.get("/nothing", &[]),
        lab.get(&format!("{}about", session.api), std::slice::from_ref(&session.header)),
        foreign,
    ];
    for answer in answers {
        let policy = answer.header("content-security-policy").unwrap();
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "connect-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ] {
            assert!(policy.contains(part), "{part} is not in {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
        assert_eq!(answer.header("cross-origin-opener-policy"), Some("same-origin"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[test]
fn nothing_is_fired_unless_it_was_allowed() {
    let trial = json!({"event": "before-tool", "payload": {}}).to_string();
    let reader = Lab::new(TesterMode::Explain);
    let session = reader.sign_in();
    let answer = reader.post(&format!("{}fire", session.api), std::slice::from_ref(&session.header), &trial);
    assert_eq!((answer.status, reader.workbench.fired.load(Ordering::Relaxed)), (403, 0));
    assert_eq!(
        reader.post(&format!("{}explain", session.api), std::slice::from_ref(&session.header), &trial).status,
        200
    );

    let runner = Lab::new(TesterMode::Fire);
    let session = runner.sign_in();
    let path = format!("{}fire", session.api);
    assert_eq!(runner.post(&path, &[], &trial).status, 401);
    assert_eq!(runner.get(&path, std::slice::from_ref(&session.header)).status, 405);
    assert_eq!(runner.workbench.fired.load(Ordering::Relaxed), 0);
    assert_eq!(runner.post(&path, std::slice::from_ref(&session.header), &trial).status, 200);
    assert_eq!(runner.workbench.fired.load(Ordering::Relaxed), 1);
}

#[test]
fn a_payload_that_is_no_object_is_refused() {
    let lab = Lab::new(TesterMode::Fire);
    let session = lab.sign_in();
    // `@FILE` and `-` mean something to the command line, and nothing here.
    for payload in [json!("@/etc/passwd"), json!("-"), json!([1]), json!(null)] {
        let body = json!({"event": "before-tool", "payload": payload}).to_string();
        let answer = lab.post(&format!("{}explain", session.api), std::slice::from_ref(&session.header), &body);
        assert_eq!(answer.status, 400, "{payload}");
    }
    let unknown = json!({"event": "no-event", "payload": {}}).to_string();
    let answer = lab.post(&format!("{}explain", session.api), std::slice::from_ref(&session.header), &unknown);
    assert_eq!((answer.status, answer.json()), (422, json!({"error": "`no-event` is not an event"})));
}

#[test]
fn rows_are_sent_as_they_come_and_a_reader_goes_on_where_it_was() {
    let lab = Lab::with_events(2);
    let session = lab.sign_in();
    lab.wait_for_rows(&session, 2);
    let read = |from: &str, last: &str| {
        let mut stream = TcpStream::connect(lab.address).unwrap();
        let (host, cookie, api) = (lab.host(), &session.header, &session.api);
        write!(stream, "GET {api}live/{from} HTTP/1.1\r\n{host}\r\n{cookie}\r\n{last}\r\n").unwrap();
        BufReader::new(stream).lines().map_while(Result::ok)
    };
    let numbers = |data: &str| {
        let rows: Vec<serde_json::Value> = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        Vec::from_iter(rows.iter().map(|row| row["n"].as_u64().unwrap()))
    };
    let mut live = read("1", "").filter(|line| line.starts_with("data: "));
    assert_eq!(numbers(&live.next().unwrap()), [1]);
    lab.append(&records::fired(3));
    assert_eq!(numbers(&live.next().unwrap()), [2]);
    let mut again = read("0", "Last-Event-ID: 2\r\n").filter(|line| line.starts_with("data: "));
    assert_eq!(numbers(&again.next().unwrap()), [2]);
}

#[test]
fn a_search_finds_what_only_the_record_holds() {
    let lab = Lab::with_events(20);
    let session = lab.sign_in();
    lab.wait_for_rows(&session, 20);
    let body = json!({"text": "MAIN # 12"}).to_string();
    let answer = lab.post(&format!("{}search", session.api), std::slice::from_ref(&session.header), &body);
    assert_eq!(answer.json(), json!({"found": [11], "end": 20}));
}
