//! Markup, terminal escapes and marks of direction in every recorded field.

use serde_json::Value;

use crate::driver::Browser;
use crate::lab::Lab;
use crate::records;

const HOSTILE: &str = "</script><img src=x onerror=\"window.hit=1\"><svg onload=window.hit=1>{{7*7}}javascript:window.hit=1 \u{1b}[31m\u{1b}]8;;x\u{7}\u{202e}\u{200b}\u{9b}";

/// Replaces every text of a value but those that decide what the record is.
fn poison(key: &str, value: &mut Value) {
    match value {
        Value::String(text) if !matches!(key, "kind" | "at" | "fire") => *text = format!("{text}{HOSTILE}"),
        Value::Array(values) => values.iter_mut().for_each(|value| poison(key, value)),
        Value::Object(members) => {
            let mut poisoned: serde_json::Map<String, Value> = std::mem::take(members);
            for (key, value) in &mut poisoned {
                poison(key, value);
            }
            *members = poisoned;
        }
        _ => {}
    }
}

/// Whether anything of a record became an element, ran, or reached the page as a control character.
const DAMAGE: &str = r"
    const foreign = [...document.querySelectorAll('img, iframe, object, embed, a[href^=\'javascript\'], svg[onload], [onerror]')].map((node) => node.outerHTML);
    const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202e]/;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode;
        if (node.parentElement?.closest('script')) continue;
        const texts = node.nodeType === 3 ? [node.data] : [...node.attributes].map((attribute) => attribute.value);
        for (const text of texts) if (controls.test(text)) foreign.push(text);
    }
    if (window.hit) foreign.push('a script of a record ran');
    return foreign;";

#[test]
fn nothing_in_a_record_is_more_than_text() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::with_events(0);
    for seq in [1, 6, 15, 22] {
        let mut record = records::fired(seq);
        poison("", &mut record);
        lab.append(&record);
    }
    for mut record in [records::answered(30, 15), records::late(31, 15)] {
        poison("", &mut record);
        lab.append(&record);
    }
    lab.append_line(Err(format!("segment {HOSTILE}")));
    lab.append_line(Ok(format!("no json {HOSTILE}")));
    browser.open(&lab.url);
    browser.wait("document.getElementById('count').textContent === '8 events'");
    let none = serde_json::json!([]);
    browser.wait("document.querySelectorAll('.row').length === 8");
    assert_eq!(browser.run(DAMAGE), none, "list");
    for number in 0..8 {
        browser.run(&format!("location.hash = '#/event/{number}'"));
        browser.wait("document.querySelector('#detail h2') !== null");
        browser.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })");
        browser.wait(&format!("document.querySelector('.row.selected')?.dataset.n === '{number}'"));
        assert_eq!(browser.run(DAMAGE), none, "event {number}");
    }
    for (view, ready) in
        [("stats", "#stats tbody tr"), ("compare/0/2", "#compare .diff"), ("event/2", "#detail .later table")]
    {
        browser.run(&format!("location.hash = '#/{view}'"));
        browser.wait(&format!("document.querySelector('{ready}') !== null"));
        assert_eq!(browser.run(DAMAGE), none, "{view}");
    }
    // It is shown, as text.
    let shown = browser.run("return document.querySelector('#detail').innerText");
    assert!(shown.as_str().unwrap().contains("<img src=x onerror"), "{shown}");
    assert!(shown.as_str().unwrap().contains("␛[31m") && shown.as_str().unwrap().contains("⟨U+202E⟩"), "{shown}");
    assert_eq!(browser.console(), [""; 0]);
}
