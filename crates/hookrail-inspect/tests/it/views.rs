//! What each view shows.

use hookrail_inspect::TesterMode;
use serde_json::json;

use crate::driver::Browser;
use crate::lab::Lab;
use crate::records;

/// The text of an element.
fn text(browser: &Browser, selector: &str) -> String {
    let found = browser.run(&format!("return document.querySelector({selector:?})?.innerText ?? ''"));
    found.as_str().unwrap().to_owned()
}

/// A page that shows these events.
fn opened(browser: &Browser, lab: &Lab, count: usize) {
    browser.open(&lab.url);
    browser.wait(&format!("document.getElementById('count').textContent.startsWith('{count} event')"));
    browser.wait("document.getElementById('state').textContent === 'live'");
}

#[test]
fn the_token_leaves_the_address_and_events_appear_live() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::with_events(4);
    opened(&browser, &lab, 4);
    assert_eq!(browser.run("return location.hash"), "#/events");
    assert_eq!(browser.run("return document.cookie"), "", "scripts cannot read the cookie");
    lab.append(&records::fired(5));
    browser.wait("document.querySelector('.row[data-n=\"4\"] .verdict.deny') !== null");
    browser.wait("document.getElementById('count').textContent === '5 events'");
    // A reload finds the session again.
    browser.open(&format!("http://{}/", lab.address));
    browser.wait("document.getElementById('count').textContent === '5 events'");
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn an_event_shows_who_said_what_and_why_others_did_not_run() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::with_events(15);
    lab.append(&records::answered(16, 15));
    lab.append(&records::late(17, 15));
    opened(&browser, &lab, 17);
    browser.run("document.querySelector('.row[data-n=\"14\"]').click()");
    browser.wait("document.querySelector('#detail .later table') !== null");
    let detail = text(&browser, "#detail");
    for expected in [
        "deny",
        "before-tool · run_shell_command",
        "a forced push rewrites what others have",
        "guard-push",
        "system",
        "settings.json:21",
        "`^edit$` does not match tool_name",
        "untrusted",
        "refused",
        "slow-guard",
        "after the outcome",
        "5c1f0a9b-15",
    ] {
        assert!(detail.contains(expected), "{expected} is not in:\n{detail}");
    }
    assert_eq!(browser.run("return document.querySelectorAll('.waterfall .run').length"), 3);
    // An event with a rewrite, and one with a shadow verdict.
    browser.run("document.querySelector('.row[data-n=\"14\"]').click(); location.hash = '#/event/0'");
    browser.wait("document.querySelector('#detail .diff ins') !== null");
    let (removed, added) = (text(&browser, "#detail .diff del"), text(&browser, "#detail .diff ins"));
    assert!(removed.starts_with('-') && added.starts_with('+'), "{removed} {added}");
    browser.run("location.hash = '#/event/5'");
    browser.wait("document.querySelector('#detail').innerText.includes('would have blocked')");
    // What is replaced inside of a field, and what is added.
    let mut record = records::fired(18);
    record["input"]["llm_request"] = json!({"toolConfig": {"mode": "ANY"}});
    record["outcome"]["toolConfig"] = json!({"mode": "NONE"});
    record["outcome"]["entries"] = json!([{"kind": "note", "text": "kept in the session"}]);
    lab.append(&record);
    browser.wait("document.getElementById('count').textContent === '18 events'");
    browser.run("location.hash = '#/event/17'");
    browser.wait("document.querySelector('#detail .diff ins') !== null");
    let detail = text(&browser, "#detail");
    for expected in ["The tools that the model may call: rewritten", "ANY", "NONE", "kept in the session"] {
        assert!(detail.contains(expected), "{expected} is not in:\n{detail}");
    }
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn the_page_opens_on_the_newest_denial_and_counts_those_of_today() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::new(TesterMode::Explain);
    browser.open(&lab.url);
    browser.wait("document.querySelector('.empty')?.innerText.includes('hookrail install')");
    let now = browser.run("return new Date().toISOString()");
    let today = |seq: u64| {
        let mut record = records::fired(seq);
        record["at"] = now.clone();
        record["host"]["name"] = json!("hookrail bridge claude");
        record
    };
    // 5 was denied on another day, 10 and 15 today; 13 asked today.
    for seq in 1..=16 {
        lab.append(&if seq > 8 { today(seq) } else { records::fired(seq) });
    }
    let mut unasked = today(17);
    (unasked["hooks"], unasked["outcome"]["runs"]) = (json!([]), json!([]));
    lab.append(&unasked);
    // The same address again would not load the page.
    browser.open("about:blank");
    opened(&browser, &lab, 17);
    browser.wait("document.querySelector('.row.selected')?.dataset.n === '14'");
    browser.wait("document.querySelector('#detail .waterfall') !== null");
    assert_eq!(text(&browser, "#today"), "2 denied today\n1 question today");
    let row = |number: u64, column: &str| text(&browser, &format!(".row[data-n='{number}'] .{column}"));
    assert_eq!([row(16, "decision"), row(15, "decision"), row(16, "agent")], ["no hook", "allowed", "claude"]);
    browser.run("document.querySelector('#today button').click()");
    browser.wait("document.getElementById('count').textContent === '2 of 17 events'");
    let columns = text(&browser, ".headings");
    assert!(columns.starts_with("Time\nDecision\nAgent\nEvent\nTool\nAbout"), "{columns}");
    // What does not match is another matter than that nothing was recorded.
    browser.run("const box = document.getElementById('filter'); box.value = 'nothing-has-this'; box.dispatchEvent(new Event('input'))");
    browser.wait("document.querySelector('.empty')?.innerText.includes('matches the filter')");
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn of_a_path_the_end_is_seen() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::new(TesterMode::Explain);
    let folders = "a-folder-with-a-long-name/".repeat(6);
    for (seq, path) in [(1, format!("/home/me/project/{folders}end.rs")), (2, "short.rs".to_owned())] {
        let mut record = records::fired(seq);
        record["input"]["tool_input"] = json!({ "path": path });
        lab.append(&record);
    }
    opened(&browser, &lab, 2);
    // The place of the last character of the path in its cell: inside it, and the first one is not.
    let ends = browser.run(
        "const cell = document.querySelector('.row[data-n=\"0\"] .text').getBoundingClientRect(); \
         const path = document.querySelector('.row[data-n=\"0\"] bdi').getBoundingClientRect(); \
         return [path.right <= cell.right + 1, path.left < cell.left]",
    );
    assert_eq!(ends, json!([true, true]));
    assert!(text(&browser, ".row[data-n='0'] .text").starts_with("a-folder"), "it is below the project");
}

#[test]
fn filters_and_the_search_in_all_fields_select_events() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::with_events(50);
    opened(&browser, &lab, 50);
    let filtered = |filter: &str, expected: &str| {
        let set = format!(
            "const box = document.getElementById('filter'); box.value = {filter:?}; box.dispatchEvent(new Event('input'))"
        );
        browser.run(&set);
        browser.wait(&format!("document.getElementById('count').textContent === '{expected}'"));
    };
    filtered("decision:deny", "10 of 50 events");
    filtered("decision:deny -tool:shell", "7 of 50 events");
    filtered("is:failed", "2 of 50 events");
    filtered("end:timed-out hook:guard-push", "2 of 50 events");
    filtered("seq:>48", "2 of 50 events");
    filtered("layer:nothing", "0 of 50 events");
    // A verdict of a shadow hook that came in time.
    filtered("hook:new-guard", "8 of 50 events");
    filtered("new-guard decision:deny", "1 of 50 events");
    filtered("\"part1.rs\"", "1 of 50 events");
    // Only the record holds this text.
    filtered("force-with-lease", "0 of 50 events");
    browser.run("document.getElementById('deep').click()");
    browser.wait("document.getElementById('count').textContent === '3 of 50 events'");
}

#[test]
fn numbers_hooks_comparison_and_tester_show_what_they_should() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::new(TesterMode::Fire);
    (1..=60).for_each(|seq| lab.append(&records::fired(seq)));
    // A late verdict of a shadow hook is no run that counts.
    lab.append(&records::late(61, 60));
    opened(&browser, &lab, 61);
    browser.run("location.hash = '#/stats'");
    browser.wait("document.querySelectorAll('#stats tbody tr').length === 3");
    let numbers = text(&browser, "#stats tbody");
    assert!(numbers.contains("guard-push") && numbers.contains("60"), "{numbers}");
    assert!(browser.run("return document.querySelectorAll('#stats svg.plot rect').length").as_u64().unwrap() > 10);
    browser.run("document.querySelector('#stats th button').click()");
    browser.wait("document.querySelector('#stats th[aria-sort=ascending]').innerText === 'Hook'");

    browser.run("document.querySelector('#stats tbody a').click()");
    browser.wait("document.getElementById('filter')?.value.startsWith('hook:\"')");

    browser.run("location.hash = '#/hooks'");
    browser.wait("document.querySelectorAll('#hooks tbody tr').length === 2");
    let hooks = text(&browser, "#hooks");
    for expected in ["hookrail trust grant", "changed", "granted", "settings.json:21", "^run_shell_command$"] {
        assert!(hooks.contains(expected), "{expected} is not in:\n{hooks}");
    }
    assert_eq!(
        browser.run("return document.querySelectorAll('#hooks button').length"),
        0,
        "nothing can be granted here"
    );

    browser.run("location.hash = '#/replay'");
    browser.wait("document.getElementById('replay-file') !== null");
    let opened = |document: &str| {
        browser.run(&format!(
            "const files = new DataTransfer(); files.items.add(new File([{document:?}], 'replay.json')); \
             const field = document.getElementById('replay-file'); field.files = files.files; field.dispatchEvent(new Event('change'))"
        ));
    };
    opened("[]");
    browser.wait("document.querySelector('#replay-result [role=alert]') !== null");
    opened(
        r#"{"replayed":60,"same":48,"notReplayable":2,"redacted":2,"different":[{"from":"allowed","to":"denied","count":12,
            "example":{"seq":7,"at":"2026-11-16T09:00:07.123Z","event":"before-tool","tool":"write_file","hook":"guard-push","reason":"<b>new"}}]}"#,
    );
    browser.wait("document.querySelector('#replay-result tbody tr') !== null");
    let replay = text(&browser, "#replay-result");
    for expected in ["12 events of 60", "allowed", "denied", "<b>new", "2 events could not be replayed"] {
        assert!(replay.contains(expected), "{expected} is not in:\n{replay}");
    }
    assert_eq!(browser.run("return document.querySelector('#replay-result a').getAttribute('href')"), "#/event/6");

    browser.run("location.hash = '#/compare/4/5'");
    browser.wait("document.querySelectorAll('#compare .changed').length > 0");
    let comparison = text(&browser, "#compare");
    assert!(comparison.contains("differs") && comparison.contains("changed"), "{comparison}");

    browser.run("location.hash = '#/event/14'");
    browser.wait("[...document.querySelectorAll('#detail button')].some((b) => b.innerText === 'Try it today')");
    browser.run("[...document.querySelectorAll('#detail button')].find((b) => b.innerText === 'Try it today').click()");
    browser.wait("document.getElementById('test-payload').value.includes('git push')");
    browser.run("document.querySelector('#tester form button').click()");
    browser.wait("document.getElementById('test-result').innerText.includes('Plan')");
    browser.run("[...document.querySelectorAll('#tester button')].find((b) => b.innerText.startsWith('Fire')).click()");
    browser.wait("document.getElementById('test-result').innerText.includes('(the same)')");
    browser.run("document.getElementById('test-payload').value = 'no json'; document.querySelector('#tester form button').click()");
    browser.wait("document.querySelector('#test-result [role=alert]') !== null");
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn a_narrow_window_shows_one_thing_at_a_time_and_nothing_is_cut_off() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::with_events(30);
    browser.resize(320, 640);
    opened(&browser, &lab, 30);
    let is_whole = "return ['time', 'decision', 'agent'].filter((name) => [...document.querySelectorAll(`.row .${name}`)].some((cell) => cell.scrollWidth > cell.clientWidth))";
    assert_eq!(browser.run(is_whole), json!([]), "what says when, what and who is not cut");
    // Wide tables, code and the list have bars of their own.
    let fits = "return document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll('main *')].every((node) => \
        !node.checkVisibility() || node.closest('.scroll, pre, .list, svg') || node.getBoundingClientRect().right <= innerWidth)";
    assert_eq!(browser.run(fits), true);
    assert_eq!(browser.run("return getComputedStyle(document.getElementById('detail')).display"), "none");
    browser.run("document.querySelector('.row[data-n=\"29\"]').click()");
    browser.wait("document.querySelector('#detail h2') === document.activeElement");
    assert_eq!(browser.run(fits), true);
    assert_eq!(browser.run("return getComputedStyle(document.querySelector('.left')).display"), "none");
    browser.run("document.querySelector('#detail .back').click()");
    browser.wait("document.activeElement.id === 'list'");
    for view in ["stats", "hooks", "tester", "replay", "compare/1/2"] {
        browser.run(&format!("location.hash = '#/{view}'"));
        browser.wait("document.querySelector('main h2') !== null");
        assert_eq!(browser.run(fits), true, "{view}");
    }
}

/// The times and quantiles that a test of `hookrail stats` also has.
const QUANTILES: &str = include_str!("quantiles.json");

#[test]
fn quantiles_are_those_of_the_command_line() {
    let Some(browser) = Browser::start() else { return };
    let cases: Vec<serde_json::Value> = serde_json::from_str(QUANTILES).unwrap();
    let lab = Lab::new(TesterMode::Explain);
    let mut seq = 0;
    for (number, case) in cases.iter().enumerate() {
        for time in case["times"].as_array().unwrap() {
            seq += 1;
            let mut record = records::fired(1);
            record["hooks"] =
                json!([{"id": format!("q{number}"), "hook": format!("hook {number}"), "end": "silent", "ms": time}]);
            lab.append(&record);
        }
    }
    opened(&browser, &lab, seq);
    browser.run("location.hash = '#/stats'");
    browser.wait(&format!("document.querySelectorAll('#stats tbody tr').length === {}", cases.len()));
    browser.run("document.querySelector('#stats th button').click()");
    browser.wait("document.querySelector('#stats th[aria-sort=ascending]') !== null");
    let shown = browser.run(
        "return [...document.querySelectorAll('#stats tbody tr')].map((row) => [7, 8].map((cell) => parseFloat(row.cells[cell].innerText)))",
    );
    let expected = Vec::from_iter(cases.iter().map(|case| json!([case["p50"], case["p99"]])));
    let numbers = |value: &serde_json::Value| {
        Vec::from_iter(value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()))
    };
    assert_eq!(
        Vec::from_iter(shown.as_array().unwrap().iter().map(numbers)),
        Vec::from_iter(expected.iter().map(numbers))
    );
}

/// The contrast of the text of every element that shows some, as WCAG computes it; what is below 4.5 is returned.
const LOW_CONTRAST: &str = r"
    const parse = (colour) => colour.match(/[\d.]+/g).map(Number);
    const light = (rgb) => rgb.slice(0, 3).map((part) => part / 255)
        .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
    const behind = (node) => { for (let at = node; at; at = at.parentElement) { const back = parse(getComputedStyle(at).backgroundColor); if (back.length === 3 || back[3] > 0.99) return back; } return [255, 255, 255]; };
    const low = [];
    for (const node of document.querySelectorAll('body *')) {
        const shows = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
        if (!shows || !node.getClientRects().length || node.closest('svg') || node.disabled) continue;
        const [one, other] = [light(parse(getComputedStyle(node).color)), light(behind(node))];
        const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        if (contrast < 4.5) low.push(`${node.className} ${node.textContent.slice(0, 30)}: ${contrast.toFixed(1)}`);
    }
    return low;";

/// What a screen reader could not name: buttons, links, fields, pictures and lists without a name.
const UNNAMED: &str = r"
    const named = (node) => (node.getAttribute('aria-label') || node.getAttribute('aria-labelledby') || node.innerText || node.querySelector?.('title')?.textContent
        || (node.id && document.querySelector(`label[for='${node.id}']`)?.innerText) || node.closest('label')?.innerText || '').trim();
    return [...document.querySelectorAll('button, a, input, textarea, [role=img], [role=listbox], [role=option], [role=region], nav, dialog')]
        .filter((node) => !named(node)).map((node) => node.outerHTML.slice(0, 120));";

#[test]
fn every_view_can_be_read_in_light_and_dark_and_by_a_screen_reader() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::with_events(40);
    lab.append(&records::late(41, 36));
    opened(&browser, &lab, 41);
    for scheme in ["light", "dark"] {
        browser.prefer_colours(scheme);
        for (view, ready) in [
            ("events?decision:deny", "document.querySelector('.row') !== null"),
            ("event/35", "document.querySelector('#detail .waterfall') !== null"),
            ("stats", "document.querySelector('#stats tbody tr') !== null"),
            ("hooks", "document.querySelector('#hooks tbody tr') !== null"),
            ("tester", "document.querySelector('#tester form') !== null"),
            ("replay", "document.querySelector('#replay input') !== null"),
            ("compare/35/4", "document.querySelector('#compare .diff') !== null"),
        ] {
            browser.run(&format!("location.hash = '#/{view}'"));
            browser.wait(ready);
            let none = serde_json::json!([]);
            assert_eq!(browser.run(LOW_CONTRAST), none, "{scheme} {view}");
            assert_eq!(browser.run(UNNAMED), none, "{scheme} {view}");
        }
    }
    assert_eq!(browser.run("return document.documentElement.lang"), "en");
    // The list tells its size and the place of a row in it, although most rows do not exist.
    browser.run("location.hash = '#/events'");
    browser.wait("document.querySelector('[role=option]') !== null");
    let option = browser.run("const o = document.querySelector('[role=option]'); return [o.getAttribute('aria-posinset') !== null, Number(o.getAttribute('aria-setsize')) > 0, o.parentElement.getAttribute('role')]");
    assert_eq!(option, serde_json::json!([true, true, "presentation"]));
}

/// The pictures of the documentation, from the same page as everything else. They are written by `scripts/inspect.sh`; otherwise
/// the page has to look like them.
#[test]
fn pictures_show_the_page_as_it_is() {
    let Some(browser) = Browser::start() else { return };
    let lab = Lab::new(TesterMode::Fire);
    (1..=90).for_each(|seq| lab.append(&records::fired(seq)));
    browser.resize(1240, 700);
    opened(&browser, &lab, 90);
    browser.run("location.hash = '#/event/89'");
    browser.wait(
        "document.querySelector('#detail .waterfall') !== null && document.querySelector('.row.selected') !== null",
    );
    browser.picture("light");
    browser.prefer_colours("dark");
    browser.run("location.hash = '#/event/63'");
    browser
        .wait("document.querySelector('#detail .diff') !== null && document.querySelector('.row.selected') !== null");
    browser.picture("dark");
    browser.prefer_colours("light");
    browser.resize(1240, 260);
    browser.run("location.hash = '#/stats'");
    browser.wait("document.querySelectorAll('#stats svg.plot').length === 6");
    browser.picture("numbers");
    browser.resize(1240, 700);
    browser.run("location.hash = '#/compare/86/89'");
    browser.wait("document.querySelectorAll('#compare .changed').length > 0");
    browser.picture("compare");
    browser.resize(390, 700);
    browser.run("location.hash = '#/events'");
    browser.wait("document.querySelector('.row') !== null");
    browser.run("document.querySelector('#detail .back').click()");
    browser.picture("narrow");
    browser.compare_pictures();
}
