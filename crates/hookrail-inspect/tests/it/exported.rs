//! The file that needs no server.

use hookrail_inspect::{PageTitle, export};

use crate::driver::Browser;
use crate::records;

#[test]
fn an_exported_file_shows_everything_without_a_server() {
    let Some(browser) = Browser::start() else { return };
    let mut hostile = records::fired(41);
    hostile["tool"] = "</script><script>window.hit=1</script><!-- \u{1b}[31m".into();
    let all = (1..=40).map(records::fired).chain([hostile]).map(|record| Ok(records::line(&record)));
    let title = PageTitle { version: "0.1.0".to_owned(), project: "/home/me/project".to_owned(), events: Vec::new() };
    let file = tempfile::Builder::new().suffix(".html").tempfile().unwrap();
    std::fs::write(file.path(), export(Box::new(Vec::from_iter(all).into_iter()), 1_000, &title)).unwrap();

    browser.open(&format!("file://{}", file.path().display()));
    browser.wait("document.getElementById('count').textContent === '41 events'");
    assert_eq!(
        browser.run("return [document.getElementById('state').textContent, window.hit ?? null]"),
        serde_json::json!(["exported", null])
    );
    browser.press(['j', 'j']);
    browser.wait("document.querySelector('#detail .waterfall') !== null");
    browser.run("document.getElementById('deep').click(); const box = document.getElementById('filter'); box.value = 'force-with-lease'; box.dispatchEvent(new Event('input'))");
    browser.wait("document.getElementById('count').textContent === '2 of 41 events'");
    browser.run("location.hash = '#/stats'");
    browser.wait("document.querySelectorAll('#stats tbody tr').length === 3");
    // Opened at a view, it shows that view.
    for (view, ready) in
        [("stats", "#stats tbody tr"), ("event/14", "#detail .waterfall"), ("compare/35/4", "#compare .diff")]
    {
        browser.open("about:blank");
        browser.open(&format!("file://{}#/{view}", file.path().display()));
        browser.wait(&format!("document.querySelector('{ready}') !== null"));
    }
    browser.run("location.hash = '#/hooks'");
    browser.wait("document.querySelector('#hooks').innerText.includes('exported')");
    let markup =
        browser.run("try { document.body.innerHTML = '<b>x</b>'; return 'done' } catch (error) { return error.name }");
    assert_eq!(markup, "TypeError", "the policy of the file holds");
    assert_eq!(browser.console().iter().filter(|line| !line.contains("TrustedHTML")).count(), 0);
}
