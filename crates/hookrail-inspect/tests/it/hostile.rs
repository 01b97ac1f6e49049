//! Markup, terminal escapes and marks of direction in every recorded field, in the documents of the present configuration, and
//! in the document of a replay.

use hookrail_inspect::{PageTitle, export};
use serde_json::{Value, json};

use crate::driver::Browser;
use crate::lab::Lab;
use crate::records;

const HOSTILE: &str = "</script><img src=x onerror=\"window.hit=1\"><svg onload=window.hit=1>{{7*7}}javascript:window.hit=1 \u{1b}[31m\u{1b}]8;;x\u{7}\u{202e}\u{200b}\u{9b}";

/// Puts something at the end of every text of a value.
pub(crate) fn poison(poison: &str, value: &mut Value) {
    match value {
        Value::String(text) => text.push_str(poison),
        Value::Array(values) => values.iter_mut().for_each(|value| self::poison(poison, value)),
        Value::Object(members) => members.values_mut().for_each(|value| self::poison(poison, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Puts something at the end of the name of every member below a value.
fn poison_names(poison: &str, value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| poison_names(poison, value)),
        Value::Object(members) => {
            let renamed = std::mem::take(members).into_iter().map(|(name, mut value)| {
                poison_names(poison, &mut value);
                (format!("{name}{poison}"), value)
            });
            *members = renamed.collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Lines with poison everywhere. The parts that decide how a record is shown are left as they are in some of them.
fn lines() -> Vec<Result<String, String>> {
    let fired = [1, 6, 15, 22].map(records::fired);
    let whole = Vec::from_iter(fired.iter().cloned().chain(records::others(30, 15)));
    let known = whole.iter().map(|record| {
        let mut poisoned = record.clone();
        poison(HOSTILE, &mut poisoned);
        for member in ["kind", "at", "fire"] {
            if let Some(value) = record.get(member) {
                poisoned[member] = value.clone();
            }
        }
        poisoned
    });
    let every_text = whole.iter().cloned().map(|mut record| {
        poison(HOSTILE, &mut record);
        record
    });
    let names_of_values = fired.iter().cloned().map(|mut record| {
        poison_names(HOSTILE, &mut record["input"]["tool_input"]);
        poison_names(HOSTILE, &mut record["outcome"]["toolInput"]);
        record["outcome"]["aggregated"] = record["input"]["tool_input"].clone();
        record["host"] = record["input"]["tool_input"].clone();
        record
    });
    let every_name = fired.iter().cloned().map(|mut record| {
        poison_names(HOSTILE, &mut record);
        record
    });
    let records = known.chain(every_text).chain(names_of_values).chain(every_name);
    let readable = records.map(|record| Ok(records::line(&record)));
    readable.chain([Err(format!("segment {HOSTILE}")), Ok(format!("no json {HOSTILE}"))]).collect()
}

/// Whether anything of a record became an element, ran, or reached the page as a control character.
const DAMAGE: &str = r"
    const foreign = [...document.querySelectorAll('img, iframe, object, embed, a[href^=\'javascript\'], svg[onload], [onerror]')].map((node) => node.outerHTML);
    const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202e]/;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode;
        if (node.matches?.('script') || node.parentElement?.closest('script')) continue;
        const texts = node.nodeType === 3 ? [node.data] : [...node.attributes].map((attribute) => attribute.value);
        if (typeof node.value === 'string') texts.push(node.value);
        for (const text of texts) if (controls.test(text)) foreign.push(text);
    }
    if (controls.test(document.title)) foreign.push(document.title);
    if (window.hit) foreign.push('a script of a record ran');
    return foreign;";

fn assert_undamaged(browser: &Browser, place: &str) {
    assert_eq!(browser.run(DAMAGE), json!([]), "{place}");
}

/// Opens every record and every view that is made of records.
fn visit_records(browser: &Browser, count: usize) {
    browser.wait(&format!("document.getElementById('count').textContent === '{count} events'"));
    browser.wait("document.querySelectorAll('.row').length > 8");
    assert_undamaged(browser, "list");
    for number in 0..count {
        browser.run(&format!("location.hash = '#/event/{number}'"));
        browser.wait(&format!(
            "document.querySelector('.row.selected')?.dataset.n === '{number}' && document.querySelector('#detail h2') !== null"
        ));
        browser.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })");
        assert_undamaged(browser, &format!("event {number}"));
    }
    for (view, ready) in [
        ("stats", "#stats tbody tr"),
        ("compare/0/2", "#compare .diff"),
        ("compare/9/15", "#compare .diff"),
        ("event/2", "#detail .later table"),
    ] {
        browser.run(&format!("location.hash = '#/{view}'"));
        browser.wait(&format!("document.querySelector('{ready}') !== null"));
        assert_undamaged(browser, view);
    }
    // It is shown, as text.
    let shown = browser.run("return document.querySelector('#detail').innerText");
    assert!(shown.as_str().unwrap().contains("<img src=x onerror"), "{shown}");
    assert!(shown.as_str().unwrap().contains("␛[31m") && shown.as_str().unwrap().contains("⟨U+202E⟩"), "{shown}");
}

#[test]
fn nothing_in_a_record_is_more_than_text() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::poisoned(HOSTILE);
    let lines = lines();
    lines.iter().for_each(|line| lab.append_line(line.clone()));
    browser.open(&lab.url);
    visit_records(&browser, lines.len());

    browser.run("location.hash = '#/hooks'");
    browser.wait("document.querySelectorAll('#hooks tbody tr').length === 3");
    assert_undamaged(&browser, "hooks");

    // The tester: a recorded event, its plan, its outcome, and a name that is no event.
    browser.run("location.hash = '#/event/2'");
    browser.wait("[...document.querySelectorAll('#detail button')].some((b) => b.innerText === 'Try it today')");
    browser.run("[...document.querySelectorAll('#detail button')].find((b) => b.innerText === 'Try it today').click()");
    browser.wait("document.getElementById('test-payload')?.value.includes('git push')");
    assert_undamaged(&browser, "an event in the tester");
    let given = browser.run("return JSON.parse(document.getElementById('test-payload').value).tool_name");
    assert_eq!(given, format!("run_shell_command{HOSTILE}"), "nothing is lost");
    browser.run("document.getElementById('test-event').value = 'before-tool'");
    for (kind, ready) in [("Explain", "Plan"), ("Fire", "Who said what")] {
        browser.run(&format!("document.querySelectorAll('#test-result').forEach((node) => node.replaceChildren()); [...document.querySelectorAll('#tester button')].find((b) => b.innerText.startsWith('{kind}')).click()"));
        browser.wait(&format!("document.getElementById('test-result').innerText.includes('{ready}')"));
        browser.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })");
        assert_undamaged(&browser, kind);
    }
    browser.run(&format!(
        "document.getElementById('test-event').value = {}; document.querySelector('#tester form button').click()",
        json!("no\u{1b}<img src=x onerror=window.hit=1>\u{202e}")
    ));
    browser.wait("document.querySelector('#test-result [role=alert]')?.innerText.includes('is not an event')");
    browser.run("document.getElementById('test-event').value = ''");
    assert_undamaged(&browser, "a name that is no event");

    let mut replayed = json!({"replayed": 60, "same": 48, "notReplayable": 2, "redacted": 2, "different": [{"from": "allowed", "to": "denied",
        "count": "12", "example": {"seq": "7", "at": "2026-11-16T09:00:07.123Z", "event": "before-tool", "tool": "write_file", "hook": "guard", "reason": "new"}}]});
    poison(HOSTILE, &mut replayed);
    browser.run("location.hash = '#/replay'");
    browser.wait("document.getElementById('replay-file') !== null");
    for document in [replayed.to_string(), format!("no json {HOSTILE}")] {
        browser.run(&format!(
            "const files = new DataTransfer(); files.items.add(new File([{}], 'replay.json')); document.getElementById('replay-result').replaceChildren(); \
             const field = document.getElementById('replay-file'); field.files = files.files; field.dispatchEvent(new Event('change'))",
            json!(document)
        ));
        browser.wait("document.querySelector('#replay-result')?.children.length > 0");
        assert_undamaged(&browser, "replay");
    }
    // The browser reports the name that is no event.
    let reported = browser.console();
    assert!(matches!(&reported[..], [one] if one.contains("422")), "{reported:?}");
}

#[test]
fn nothing_in_an_exported_file_is_more_than_text() {
    let Some(browser) = Browser::start() else { return };
    let lines = lines();
    let count = lines.len();
    let with_poison = |text: &str| format!("{text}{HOSTILE}");
    let title = PageTitle { version: with_poison("1"), project: with_poison("/p"), events: vec![with_poison("e")] };
    let file = tempfile::Builder::new().suffix(".html").tempfile().unwrap();
    std::fs::write(file.path(), export(Box::new(lines.into_iter()), 1_000, &title)).unwrap();
    browser.open(&format!("file://{}", file.path().display()));
    visit_records(&browser, count);
    assert_eq!(browser.console(), [""; 0]);
}
