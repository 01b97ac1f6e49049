//! Attacks of other pages, in a real browser.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hookrail_inspect::TesterMode;

use crate::driver::Browser;
use crate::lab::Lab;
use crate::records;

/// Reads a request and answers with a page.
fn answer(mut stream: TcpStream, page: &str) {
    let mut request = [0; 4096];
    let _ = stream.read(&mut request);
    let length = page.len();
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{page}"
    );
}

/// Serves one page on another port of this machine, for every request, until the process ends.
fn other_server(page: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let page = page.clone();
            // A browser opens connections ahead and sends nothing on them.
            std::thread::spawn(move || answer(stream, &page));
        }
    });
    format!("http://{address}/")
}

#[test]
fn a_page_on_another_port_reads_nothing_although_the_browser_has_the_cookie() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::new(TesterMode::Fire);
    (1..=3).for_each(|seq| lab.append(&records::fired(seq)));
    browser.open(&lab.url);
    browser.wait("document.getElementById('count').textContent === '3 events'");
    let api = browser.run("return sessionStorage.getItem('hookrail-api')").as_str().unwrap().to_owned();
    let origin = format!("http://{}", lab.address);

    // Even with the secret path, which this page could not know.
    browser.open(&other_server("<title>other</title>".to_owned()));
    for mode in ["cors", "no-cors"] {
        let fetched = browser.run_async(&format!(
            "fetch('{origin}{api}rows/0', {{credentials: 'include', mode: '{mode}'}}).then((answer) => answer.text())"
        ));
        let text = fetched.as_str().unwrap().to_owned();
        assert!(text.starts_with("error:") || text.is_empty(), "{mode}: {text}");
    }
    let events = browser.run_async(&format!(
        "new Promise((resolve) => {{ const source = new EventSource('{origin}{api}live/0', {{withCredentials: true}}); \
         source.onmessage = () => resolve('read'); source.onerror = () => resolve('refused'); }})"
    ));
    assert_eq!(events, "refused");
    let script = browser.run_async(&format!(
        "new Promise((resolve) => {{ const node = document.createElement('script'); node.src = '{origin}/app.js'; \
         node.onload = () => resolve('loaded'); node.onerror = () => resolve('refused'); document.head.append(node); }})"
    ));
    assert_eq!(script, "refused");
    // A form cannot fire anything, nor exchange a token.
    let posted = browser.run_async(&format!(
        "fetch('{origin}{api}fire', {{method: 'POST', credentials: 'include', mode: 'no-cors', body: '{{}}'}}).then((answer) => answer.type)"
    ));
    assert!(posted == "opaque" || posted.as_str().unwrap().starts_with("error:"), "{posted}");
    assert_eq!(lab.workbench.fired.load(Ordering::Relaxed), 0);
    assert_eq!(browser.run("return document.cookie"), "");
}

/// What a page of another site can try without a person: to read, to post a form, to show a picture, to run a script, to
/// listen, to frame. The value is what it got, by attempt.
fn foreign_attempts(origin: &str, api: &str, token: &str) -> String {
    let form = |path: &str, name: &str, value: &str| {
        format!(
            "await new Promise((resolve) => {{ const frame = document.createElement('iframe'); frame.name = 'answer'; document.body.append(frame); \
             const form = document.createElement('form'); form.method = 'POST'; form.enctype = 'text/plain'; form.action = '{origin}{path}'; form.target = 'answer'; \
             const field = document.createElement('input'); field.name = {name:?}; field.value = {value:?}; form.append(field); document.body.append(form); \
             frame.onload = () => {{ frame.remove(); form.remove(); resolve(); }}; form.submit(); }})"
        )
    };
    // A form of plain text is sent as `name=value`: the name is made such that the whole is JSON.
    let session = form("/session", &format!(r#"{{"token":"{token}","x":""#), "\"}");
    let fire = form(&format!("{api}fire"), r#"{"event":"before-tool","payload":{},"x":""#, "\"}");
    format!(
        "(async () => {{ const got = {{}}; \
         const read = async (path, options) => {{ try {{ const answer = await fetch('{origin}' + path, options); return answer.status + await answer.text(); }} catch {{ return 'refused'; }} }}; \
         const load = (tag, path) => new Promise((resolve) => {{ const node = document.createElement(tag); node.onload = () => resolve('loaded'); node.onerror = () => resolve('refused'); node.src = '{origin}' + path; document.body.append(node); }}); \
         got.cors = await read('{api}rows/0', {{credentials: 'include'}}); \
         got.opaque = await read('{api}rows/0', {{credentials: 'include', mode: 'no-cors'}}); \
         got.session = await read('/session', {{method: 'POST', credentials: 'include', mode: 'no-cors', body: JSON.stringify({{token: '{token}'}})}}); \
         got.picture = await load('img', '{api}rows/0'); got.pictureOfPage = await load('img', '/'); got.script = await load('script', '/app.js'); \
         got.events = await new Promise((resolve) => {{ const source = new EventSource('{origin}{api}live/0', {{withCredentials: true}}); \
           source.onmessage = () => resolve('read'); source.onerror = () => {{ source.close(); resolve('refused'); }}; }}); \
         {session}; {fire}; return got; }})()"
    )
}

/// The names of all cookies that the browser has.
fn cookies(browser: &Browser) -> Vec<String> {
    let all = browser.development_tools("Network.getAllCookies", &serde_json::json!({}));
    all["cookies"].as_array().unwrap().iter().map(|cookie| cookie["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_page_of_another_site_reads_and_changes_nothing() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::new(TesterMode::Fire);
    (1..=3).for_each(|seq| lab.append(&records::fired(seq)));
    let (page, origin) = (other_server("<title>other</title><body>".to_owned()), format!("http://{}", lab.address));
    let api = lab.sign_in().api;
    // The browser resolves every name below `localhost` to this machine; to it, the page is one of another site.
    let foreign = page.replace("127.0.0.1", "foreign.localhost");
    let nothing = serde_json::json!({"cors": "refused", "opaque": "refused", "session": "refused", "picture": "refused",
        "pictureOfPage": "refused", "script": "refused", "events": "refused"});
    // Before the user has opened the page, even with the token and the secret path: no session begins.
    browser.open(&foreign);
    assert_eq!(browser.run_async(&foreign_attempts(&origin, &api, lab.token())), nothing);
    assert_eq!(cookies(&browser), [""; 0]);
    // And while the browser has the cookie.
    browser.open(&lab.url);
    browser.wait("document.getElementById('count').textContent === '3 events'");
    assert_eq!(cookies(&browser).len(), 1);
    browser.open(&foreign);
    assert_eq!(browser.run_async(&foreign_attempts(&origin, &api, lab.token())), nothing);
    assert_eq!(lab.workbench.fired.load(Ordering::Relaxed), 0);
}

/// Passes a connection on, until one side ends it.
#[cfg(target_os = "linux")]
fn forward(mut browser: TcpStream, inspector: SocketAddr) {
    let Ok(mut server) = TcpStream::connect(inspector) else { return };
    let (Ok(mut from_browser), Ok(mut to_server)) = (browser.try_clone(), server.try_clone()) else { return };
    std::thread::spawn(move || std::io::copy(&mut from_browser, &mut to_server));
    let _ = std::io::copy(&mut server, &mut browser);
}

/// A name whose address changes: it leads to a page of the attacker at first, and to the inspector when that page is loaded.
#[cfg(target_os = "linux")]
fn rebound_server(inspector: SocketAddr, page: &'static str) -> Arc<AtomicBool> {
    let is_rebound = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_rebound);
    // Another address of this machine with the same port, because the port is a part of the origin.
    let listener = TcpListener::bind((REBOUND_ADDRESS, inspector.port())).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let flag = Arc::clone(&flag);
            std::thread::spawn(move || {
                // A browser opens connections ahead: what counts is when it uses one.
                let is_used = stream.peek(&mut [0]).is_ok_and(|length| length > 0);
                match (is_used, flag.load(Ordering::Relaxed)) {
                    (false, _) => {}
                    (true, false) => answer(stream, page),
                    (true, true) => forward(stream, inspector),
                }
            });
        }
    });
    is_rebound
}

#[cfg(target_os = "linux")]
const REBOUND_ADDRESS: &str = "127.0.0.3";

#[cfg(target_os = "linux")]
#[test]
fn a_page_whose_name_is_rebound_to_the_inspector_gets_nothing() {
    let rules = format!("--host-resolver-rules=MAP rebound.example {REBOUND_ADDRESS}");
    let Some(browser) = Browser::start_with(&[&rules]) else { return };
    let lab = Lab::new(TesterMode::Fire);
    (1..=3).for_each(|seq| lab.append(&records::fired(seq)));
    let api = lab.sign_in().api;
    let is_rebound = rebound_server(lab.address, "<title>attacker</title><body>");
    browser.open(&format!("http://rebound.example:{}/", lab.address.port()));
    assert_eq!(browser.run("return document.title"), "attacker");
    is_rebound.store(true, Ordering::Relaxed);
    // To the browser, the inspector is now of the same origin as the page. It can read the answers, and they say nothing.
    let token = lab.token();
    let answers = browser.run_async(&format!(
        "(async () => {{ const got = []; const body = JSON.stringify({{token: '{token}'}}); \
         for (const [path, options] of [['/', {{}}], ['/app.js', {{}}], ['/session', {{method: 'POST', body}}], ['{api}rows/0', {{}}], ['{api}record/0', {{}}], \
           ['{api}fire', {{method: 'POST', body: JSON.stringify({{event: 'before-tool', payload: {{}}}})}}]]) {{ \
           const answer = await fetch(path, options); got.push(answer.status + ' ' + await answer.text()); }} \
         got.push(await new Promise((resolve) => {{ const source = new EventSource('{api}live/0'); source.onmessage = () => resolve('read'); source.onerror = () => {{ source.close(); resolve('refused'); }}; }})); \
         return got; }})()"
    ));
    let refused = "421 this server answers to its own address only";
    assert_eq!(answers, serde_json::json!([refused, refused, refused, refused, refused, refused, "refused"]));
    assert_eq!(cookies(&browser), [""; 0]);
    assert_eq!(lab.workbench.fired.load(Ordering::Relaxed), 0);
}

#[test]
fn the_page_cannot_be_framed() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::with_events(1);
    browser.open(&lab.url);
    browser.wait("document.getElementById('count').textContent === '1 event'");
    let frame = format!("<iframe id=frame src=\"http://{}/\"></iframe>", lab.address);
    browser.open(&other_server(frame));
    browser.wait("document.readyState === 'complete'");
    let report = browser.console().join("\n");
    assert!(report.contains("403") || report.contains("frame"), "{report}");
    assert_eq!(browser.run("return frames[0].length === 0 && (() => { try { return frames[0].document.title } catch { return 'blocked' } })()"), "blocked");
}

#[test]
fn without_or_with_a_wrong_token_the_page_shows_no_records() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::with_events(3);
    let page = format!("http://{}/", lab.address);
    for url in [page.clone(), format!("{page}#token={}", "0".repeat(64))] {
        browser.open("about:blank");
        browser.open(&url);
        browser.wait("document.getElementById('problem')?.textContent.includes('hookrail inspect')");
        assert_eq!(browser.run("return document.querySelectorAll('.row').length"), 0);
    }
}

#[test]
fn another_name_for_this_machine_is_refused() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::with_events(3);
    // The browser resolves every name below `localhost` to this machine, as rebinding does with any name.
    for name in ["localhost", "evil.localhost"] {
        let url = lab.url.replace("127.0.0.1", name);
        browser.open(&url);
        let text = browser.run("return document.body.innerText");
        assert!(text.as_str().unwrap().contains("its own address only"), "{name}: {text}");
    }
}

#[test]
fn text_cannot_become_markup_or_code_even_in_the_page_itself() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::with_events(1);
    browser.open(&lab.url);
    browser.wait("document.getElementById('count').textContent === '1 event'");
    for attempt in [
        "document.body.innerHTML = '<b>x</b>'",
        "document.createElement('script').text = 'window.hit = 1'",
        "document.createElement('iframe').srcdoc = '<b>x</b>'",
        "trustedTypes.createPolicy('mine', {createHTML: (text) => text})",
    ] {
        let tried = browser.run(&format!("try {{ {attempt}; return 'done' }} catch (error) {{ return error.name }}"));
        assert_eq!(tried, "TypeError", "{attempt}");
    }
    let inline = browser.run("try { document.body.setAttribute('onclick', 'window.hit = 1'); document.body.click(); } catch {} return window.hit ?? 'refused'");
    assert_eq!(inline, "refused");
    let away = browser.run_async("fetch('http://127.0.0.1:9/')");
    assert!(away.as_str().unwrap().starts_with("error:"), "{away}");
}
