//! 100,000 events.

use crate::driver::{Browser, ENTER, ESCAPE};
use crate::lab::Lab;
use crate::records;

const EVENTS: u64 = 100_000;

/// How many of them differ in more than their number.
const DIFFERENT: u64 = 600;

/// The longest that the page may keep the browser busy, in milliseconds.
const LONGEST_TASK: f64 = 200.0;

/// Collects what the browser reports about tasks of over 50 ms, from the first script of the page on.
const OBSERVE: &str = "window.longTasks = []; new PerformanceObserver((list) => { for (const entry of list.getEntries()) longTasks.push(entry.duration); }).observe({type: 'longtask', buffered: true});";

#[test]
fn a_hundred_thousand_events_load_scroll_and_filter_without_long_tasks() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::with_events(0);
    // Made of a few, because making each one anew takes longer than everything that is measured.
    let made = Vec::from_iter((0..DIFFERENT).map(|seq| records::line(&records::fired(seq))));
    for (seq, line) in (1..=EVENTS).zip(made.iter().cycle().skip(1)) {
        let own = format!("\"seq\":{seq},");
        lab.append_line(Ok(line.replace(&format!("\"seq\":{},", seq % DIFFERENT), &own)));
    }
    let session = lab.sign_in();
    lab.wait_for_rows(&session, EVENTS);
    browser.development_tools("Page.addScriptToEvaluateOnNewDocument", &serde_json::json!({ "source": OBSERVE }));
    browser.open(&lab.url);
    browser.wait("document.getElementById('count').textContent === '100,000 events'");
    let tasks = |step: &str| {
        let longest =
            browser.run("const most = Math.max(0, ...longTasks); longTasks.length = 0; return most").as_f64().unwrap();
        eprintln!("{step}: the longest task took {longest} ms");
        assert!(longest <= LONGEST_TASK, "{step}: a task took {longest} ms");
    };
    tasks("loading");
    assert!(
        browser.run("return document.querySelectorAll('.row').length").as_u64().unwrap() < 100,
        "only rows in the window exist"
    );

    let scrolled = browser.run_async(
        "(async () => { const box = document.getElementById('list'); for (let step = 0; step <= 60; step += 1) { \
         box.scrollTop = box.scrollHeight * step / 60; await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame); } \
         return document.querySelector('.row[data-n=\"0\"]') !== null; })()",
    );
    assert_eq!(scrolled, true, "the oldest event is at the end");
    tasks("scrolling");

    for filter in ["deny", "hook:guard is:failed", "part7.rs -decision:deny", "ms:>20"] {
        browser.press(['/']);
        browser.wait("document.activeElement.id === 'filter'");
        browser.press(filter.chars());
        browser.wait("/^[\\d,]+ of 100,000 events$/.test(document.getElementById('count').textContent)");
        browser.press([ESCAPE]);
        browser.wait("document.getElementById('count').textContent === '100,000 events'");
    }
    tasks("filtering");

    browser.press(['G']);
    browser.press(['k'; 30]);
    browser.press([ENTER]);
    browser.wait("document.activeElement.id === 'detail-title'");
    tasks("moving and opening");

    browser.run("location.hash = '#/stats'");
    browser.wait("document.querySelectorAll('#stats tbody tr').length === 3");
    tasks("numbers");

    browser.run("location.hash = '#/events'");
    (1..=2_000).for_each(|more| lab.append(&records::fired(EVENTS + more)));
    // The oldest ones are dropped, because no more are kept.
    browser.press(['/']);
    browser.wait("document.activeElement.id === 'filter'");
    browser.press("seq:>101990".chars());
    browser.wait("document.getElementById('count').textContent === '10 of 100,000 events'");
    tasks("2,000 live events");
}
