//! A page that stays open while events come in, and one that is opened again.

use serde_json::json;

use crate::driver::Browser;
use crate::lab::Lab;
use crate::records;

fn opened(browser: &Browser, lab: &Lab, count: usize) {
    browser.open(&lab.url);
    browser.wait(&format!("document.getElementById('count').textContent.startsWith('{count} event')"));
    browser.wait("document.getElementById('state').textContent === 'live'");
}

#[test]
fn an_open_page_keeps_up_with_what_is_recorded() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::with_events(15);
    opened(&browser, &lab, 15);

    // What came later about the event that is shown, one record after the other, and still there when it is marked.
    browser.run("location.hash = '#/event/14'");
    browser.wait("document.querySelector('#detail .waterfall') !== null");
    lab.append(&records::late(16, 15));
    browser.wait("document.querySelector('#detail .later')?.innerText.includes('slow-guard')");
    lab.append(&records::answered(17, 15));
    browser.wait("document.querySelectorAll('#detail .later section:last-child tbody tr').length === 2");
    browser
        .run("[...document.querySelectorAll('#detail button')].find((b) => b.innerText === 'Mark to compare').click()");
    browser.wait("document.querySelectorAll('#detail .later section:last-child tbody tr').length === 2");

    // A search in all fields finds records that come after it.
    browser.run("document.getElementById('deep').click(); const box = document.getElementById('filter'); box.value = 'force-with-lease'; box.dispatchEvent(new Event('input'))");
    browser.wait("document.getElementById('count').textContent === '1 of 17 events'");
    (18..=30).for_each(|seq| lab.append(&records::fired(seq)));
    browser.wait("document.getElementById('count').textContent === '2 of 30 events'");
    browser.wait("document.querySelector('.row[data-n=\"29\"]') !== null");
    browser.run("document.getElementById('deep').click(); const box = document.getElementById('filter'); box.value = ''; box.dispatchEvent(new Event('input'))");
    browser.wait("document.getElementById('count').textContent === '30 events'");

    // The numbers count new events, and what has the focus keeps it.
    browser.run("location.hash = '#/stats'");
    browser.wait("document.querySelector('#stats .note')?.innerText.startsWith('Over 30 events')");
    browser.run("document.querySelector('#stats tbody a').focus()");
    lab.append(&records::fired(31));
    browser.wait("document.querySelector('#stats .note')?.innerText.startsWith('Over 31 events')");
    assert_eq!(browser.run("return document.activeElement.matches('#stats tbody a')"), true);
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn every_view_is_the_same_after_a_reload() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::with_events(40);
    lab.append(&records::late(41, 36));
    opened(&browser, &lab, 41);
    let views = [
        (
            "events?decision:deny",
            "document.getElementById('count').textContent === '8 of 41 events' && document.querySelectorAll('.row').length === 8",
        ),
        (
            "event/35",
            "document.querySelector('#detail .later')?.innerText.includes('slow-guard') && document.querySelector('.row.selected')?.dataset.n === '35'",
        ),
        (
            "stats",
            "document.querySelectorAll('#stats tbody tr').length === 3 && document.querySelector('#stats .note').innerText.startsWith('Over 41 events')",
        ),
        ("hooks", "document.querySelectorAll('#hooks tbody tr').length === 2"),
        ("tester", "document.querySelector('#tester form') !== null"),
        ("replay", "document.querySelector('#replay input') !== null"),
        ("compare/35/4", "document.querySelector('#compare .diff') !== null"),
    ];
    for (view, ready) in views {
        browser.run(&format!("location.hash = '#/{view}'; location.reload()"));
        browser.wait("document.getElementById('state')?.textContent === 'live'");
        browser.wait(ready);
        assert_eq!(browser.run("return location.hash"), format!("#/{view}"));
    }
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn a_page_shows_no_more_records_than_are_kept() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::keeping(3);
    (1..=9).for_each(|seq| lab.append(&records::fired(seq)));
    browser.open(&lab.url);
    let shown = "[...document.querySelectorAll('.row')].map((row) => row.dataset.n).join()";
    browser.wait(&format!("{shown} === '8,7,6'"));
    (10..=14).for_each(|seq| lab.append(&records::fired(seq)));
    browser.wait(&format!("{shown} === '13,12,11'"));
    assert_eq!(browser.run("return document.getElementById('count').textContent"), "3 events");
    browser.run("document.querySelector('.row').click()");
    browser.wait("document.querySelector('#detail .waterfall') !== null");
    browser.run("location.hash = '#/event/2'");
    browser.wait("document.querySelector('#detail').innerText.includes('not kept any more')");
    // With a filter, too.
    browser.run("location.hash = '#/events?seq:>12'");
    browser.wait(&format!("{shown} === '13,12'"));
    (15..=16).for_each(|seq| lab.append(&records::fired(seq)));
    browser.wait(&format!("{shown} === '15,14,13'"));
    assert_eq!(browser.run("return document.getElementById('count').textContent"), json!("3 events"));
}
