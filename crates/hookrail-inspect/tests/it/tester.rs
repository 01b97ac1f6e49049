//! The tester with recorded events.

use hookrail_inspect::TesterMode;
use serde_json::json;

use crate::driver::Browser;
use crate::lab::Lab;
use crate::records;

#[test]
fn a_recorded_event_is_compared_only_with_what_is_like_it() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::new(TesterMode::Fire);
    let mut bridged = records::fired(15);
    bridged["host"]["name"] = json!("hookrail bridge claude");
    let mut foreign = records::fired(20);
    foreign["project"] = json!("/home/me/other");
    let mut redacted = records::fired(25);
    redacted["redacted"] = json!(1);
    [&bridged, &foreign, &redacted].into_iter().for_each(|record| lab.append(record));
    browser.open(&lab.url);
    browser.wait("document.getElementById('count').textContent === '3 events'");
    let fire = |expected: &str| {
        browser.run("document.getElementById('test-result').replaceChildren(); [...document.querySelectorAll('#tester button')].find((b) => b.innerText.startsWith('Fire')).click()");
        browser.wait("document.getElementById('test-result').innerText.includes('Who said what')");
        let text = browser.run("return document.getElementById('test-result').innerText");
        assert!(text.as_str().unwrap().contains(expected), "{expected} is not in:\n{text}");
    };
    let take = |number: u64| {
        browser.run(&format!("location.hash = '#/event/{number}'"));
        browser.wait(&format!("document.querySelector('.row.selected')?.dataset.n === '{number}'"));
        browser.wait("document.querySelector('#detail h2') === document.activeElement");
        browser.press(['t']);
        browser.wait("document.querySelector('#tester h2') === document.activeElement");
        let text = browser.run("return document.getElementById('test-origin').innerText");
        text.as_str().unwrap().to_owned()
    };
    // The event of a bridge: the configuration is told who fired it.
    assert!(take(0).contains("hookrail bridge claude"));
    fire("(the same)");
    assert!(lab.workbench.record.lock().unwrap().as_ref().unwrap().contains("hookrail bridge claude"));
    browser.run(
        "const field = document.getElementById('test-payload'); field.value = field.value.replace('origin', 'fork')",
    );
    fire("it was changed here");
    assert!(lab.workbench.record.lock().unwrap().is_some(), "a changed event is still one of the bridge");
    // Every hook stands where it ran: the second one began 40 ms after the event.
    let starts = browser.run("return [...document.querySelectorAll('#test-result table')][0].innerText");
    assert!(starts.as_str().unwrap().contains("40\u{a0}ms"), "{starts}");
    let places = browser.run("return [...document.querySelectorAll('#test-result .waterfall .run')].map((run) => Number(run.getAttribute('x')))");
    let places = Vec::from_iter(places.as_array().unwrap().iter().map(|place| place.as_f64().unwrap()));
    assert!(places.is_sorted_by(|one, other| one < other), "{places:?}");

    let origin = take(1);
    assert!(origin.contains("an event of another project, /home/me/other"), "{origin}");
    fire("its project is another one");
    assert!(take(2).contains("1 value of its input was removed"));
    fire("values were removed");
    // An event that was typed has no record.
    browser
        .run("[...document.querySelectorAll('#test-origin button')].find((b) => b.innerText === 'Forget it').click()");
    fire("Outcome");
    assert_eq!(*lab.workbench.record.lock().unwrap(), None);
    assert_eq!(
        browser.run("return document.getElementById('test-result').innerText.includes('recorded event')"),
        false
    );
    assert_eq!(browser.console(), [""; 0]);
}
