//! Attacks of other pages, in a real browser.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::Ordering;

use hookrail_inspect::TesterMode;

use crate::driver::Browser;
use crate::lab::Lab;
use crate::records;

/// Serves one page on another port of this machine, for every request, until the process ends.
fn other_server(page: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let length = page.len();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{page}"
            );
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
