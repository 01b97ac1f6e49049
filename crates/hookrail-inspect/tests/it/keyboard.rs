//! Everything without a mouse.

use crate::driver::{Browser, ENTER, ESCAPE, TAB};
use crate::lab::Lab;

#[test]
fn all_of_the_page_can_be_used_with_keys_alone() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::with_events(40);
    browser.open(&lab.url);
    browser.wait("document.getElementById('count').textContent === '40 events'");
    browser.wait("document.activeElement.id === 'list'");
    let selected =
        |number: u64| browser.wait(&format!("document.querySelector('.row.selected')?.dataset.n === '{number}'"));
    // The newest denial is opened, here the newest event, which is first.
    selected(39);
    browser.press(['j', 'j', 'k']);
    selected(38);
    browser.press(['G']);
    selected(0);
    browser.press(['g']);
    selected(39);
    assert_eq!(browser.run("return document.getElementById('list').getAttribute('aria-activedescendant')"), "row-39");

    browser.press([ENTER]);
    browser.wait("document.activeElement.id === 'detail-title'");
    browser.press([ESCAPE]);
    browser.wait("document.activeElement.id === 'list'");

    browser.press(['/']);
    browser.wait("document.activeElement.id === 'filter'");
    browser.press("decision:deny j".chars());
    browser.wait("document.getElementById('count').textContent === '0 of 40 events'");
    browser.press(['\u{e003}', '\u{e003}', ENTER]);
    browser.wait("document.getElementById('count').textContent === '8 of 40 events'");
    browser.wait("document.activeElement.id === 'list'");
    browser.press(['/']);
    browser.wait("document.activeElement.id === 'filter'");
    browser.press([ESCAPE]);
    browser.wait("document.getElementById('count').textContent === '40 events'");

    // No letter is lost, however fast it comes: the filter has the focus before the next key.
    browser.press("4/secret".chars());
    browser.wait("document.getElementById('filter').value === 'secret' && document.activeElement.id === 'filter'");
    browser.press([ESCAPE]);
    browser.wait("document.getElementById('count').textContent === '40 events'");

    browser.press(['?']);
    browser.wait("document.getElementById('help').open");
    browser.press([ESCAPE]);
    browser.wait("!document.getElementById('help').open");

    // Mark one event, go to another, compare.
    browser.press(['g', 'c', 'j', 'c']);
    browser.wait("location.hash === '#/compare/39/38'");
    browser.wait("document.activeElement.matches('#compare h2')");
    for (key, view) in [('2', "stats"), ('3', "hooks"), ('4', "tester"), ('5', "replay")] {
        browser.press([key]);
        browser.wait(&format!("document.activeElement.matches('#{view} h2')"));
    }
    browser.press([ESCAPE]);
    browser.wait("document.activeElement.id === 'list'");
}

#[test]
fn the_tab_key_reaches_every_control_and_is_never_caught() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::with_events(5);
    browser.open(&lab.url);
    browser.wait("document.getElementById('count').textContent === '5 events'");
    browser.press(['j', ENTER]);
    browser.wait("document.activeElement.id === 'detail-title'");
    browser.run("document.activeElement.blur(); window.seen = new Set(); document.addEventListener('focusin', (event) => seen.add(event.target))");
    browser.press([TAB; 60]);
    let missed = browser.run(
        "return [...document.querySelectorAll('a[href], button:not(:disabled), input, summary, [tabindex=\"0\"]')] \
         .filter((node) => node.checkVisibility() && !node.closest('details:not([open]) > :not(summary)') && !seen.has(node)).map((node) => node.outerHTML.slice(0, 100))",
    );
    assert_eq!(missed, serde_json::json!([]));
}
