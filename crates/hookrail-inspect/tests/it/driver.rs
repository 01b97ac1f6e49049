//! A real browser, driven by the WebDriver protocol: JSON over HTTP to `chromedriver`.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hookrail_testkit::has_program;
use serde_json::{Value, json};

use crate::raw;

/// One browser at a time: a browser takes a few hundred megabytes and both cores of a small machine. What is kept here is
/// the browser of the test before, which the next one uses in a new window: to start one is most of what a test costs.
static TURN: Mutex<Option<Driver>> = Mutex::new(None);

/// How many tests wait for their turn. A browser for which no test waits is ended.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// A browser with one window, which nothing was done in before.
pub(crate) struct Browser {
    /// There is one until this is dropped.
    driver: Option<Driver>,
    /// Whether another test could use it: it was started without options of its own.
    is_common: bool,
    turn: MutexGuard<'static, Option<Driver>>,
    /// The pictures that were taken, by name.
    pictures: RefCell<Vec<(String, String)>>,
}

/// The processes of a browser, and a session with it.
struct Driver {
    process: Child,
    address: SocketAddr,
    session: String,
    /// A driver whose output nothing can read would end.
    _output: BufReader<ChildStdout>,
    profile: tempfile::TempDir,
}

/// The share of cells of ten by ten pixels in which two pictures differ visibly; one if their sizes do.
const DIFFERING_CELLS: &str = r"async (...pictures) => {
    const cells = await Promise.all(pictures.map(async (base64) => {
        const image = await createImageBitmap(await (await fetch('data:image/png;base64,' + base64)).blob());
        const canvas = new OffscreenCanvas(Math.round(image.width / 10), Math.round(image.height / 10));
        const context = canvas.getContext('2d');
        context.imageSmoothingQuality = 'high';
        context.drawImage(image, 0, 0, canvas.width, canvas.height);
        return context.getImageData(0, 0, canvas.width, canvas.height).data;
    }));
    const [one, other] = cells;
    if (one.length !== other.length) return 1;
    let count = 0;
    for (let at = 0; at < one.length; at += 4) {
        if ([0, 1, 2].some((part) => Math.abs(one[at + part] - other[at + part]) > 30)) count += 1;
    }
    return count / (one.length / 4);
}";

/// Keys that are no characters, as WebDriver writes them.
pub(crate) const ESCAPE: char = '\u{e00c}';
pub(crate) const ENTER: char = '\u{e007}';
pub(crate) const TAB: char = '\u{e004}';

impl Browser {
    /// A browser, if this machine has one.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// A browser with more options.
    pub(crate) fn start_with(options: &[&str]) -> Option<Self> {
        if !has_program("chromium") || !has_program("chromedriver") {
            return None;
        }
        WAITING.fetch_add(1, Ordering::SeqCst);
        let mut turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        WAITING.fetch_sub(1, Ordering::SeqCst);
        let is_common = options.is_empty();
        let driver = match turn.take().filter(|_| is_common) {
            Some(used) => used.with_new_window(),
            None => Driver::start(options),
        };
        Some(Self { driver: Some(driver), is_common, turn, pictures: RefCell::default() })
    }

    fn command(&self, method: &str, command: &str, body: &Value) -> Value {
        self.driver.as_ref().unwrap().command(method, command, body)
    }

    pub(crate) fn open(&self, url: &str) {
        self.command("POST", "url", &json!({ "url": url }));
    }

    /// Runs the body of a function in the page and returns what it returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.command("POST", "execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until an expression is true in the page: it is looked at whenever the browser draws.
    pub(crate) fn wait(&self, expression: &str) {
        let script = format!(
            "const done = arguments[arguments.length - 1]; const end = Date.now() + 20000; \
             (function look() {{ let value; try {{ value = {expression}; }} catch {{ value = false; }} \
             if (value) done(true); else if (Date.now() > end) done(false); else setTimeout(look, 10); }})();"
        );
        let found = self.command("POST", "execute/async", &json!({"script": script, "args": []}));
        if found != true {
            let text = self.run("return document.body.innerText.slice(0, 3000)");
            panic!("never true: {expression}\n{}\n{}", text.as_str().unwrap_or_default(), self.console().join("\n"));
        }
    }

    /// Waits for a promise of the page and returns its value, or the message of its error.
    pub(crate) fn run_async(&self, expression: &str) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1]; ({expression}).then(done, (error) => done('error: ' + error.message));"
        );
        self.command("POST", "execute/async", &json!({"script": script, "args": []}))
    }

    /// Presses and releases keys one after the other.
    pub(crate) fn press(&self, keys: impl IntoIterator<Item = char>) {
        let strokes = keys.into_iter().flat_map(|key| {
            [json!({"type": "keyDown", "value": key.to_string()}), json!({"type": "keyUp", "value": key.to_string()})]
        });
        let actions = json!({"actions": [{"type": "key", "id": "keyboard", "actions": Vec::from_iter(strokes)}]});
        self.command("POST", "actions", &actions);
    }

    pub(crate) fn resize(&self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.development_tools("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// Asks for `light` or `dark` as the user's preference.
    pub(crate) fn prefer_colours(&self, scheme: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.development_tools("Emulation.setEmulatedMedia", &features);
    }

    pub(crate) fn development_tools(&self, command: &str, parameters: &Value) -> Value {
        self.command("POST", "goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    /// What the page and the browser wrote to the console since the last call.
    pub(crate) fn console(&self) -> Vec<String> {
        let entries = self.command("POST", "se/log", &json!({"type": "browser"}));
        let texts = entries.as_array().unwrap().iter().map(|entry| entry["message"].as_str().unwrap().to_owned());
        texts.collect()
    }

    /// Takes a picture of the window. It is written to `docs/pictures`, if pictures are wanted.
    pub(crate) fn picture(&self, name: &str) {
        let encoded = self.command("GET", "screenshot", &Value::Null).as_str().unwrap().to_owned();
        if std::env::var_os("HOOKRAIL_BLESS").is_some_and(|value| value == "1") {
            std::fs::write(picture_file(name), decoded(&encoded)).unwrap();
        }
        self.pictures.borrow_mut().push((name.to_owned(), encoded));
    }

    /// Whether the pictures that were taken look like those of `docs/pictures`. They are compared at a tenth of their size, because
    /// fonts differ a little from machine to machine.
    pub(crate) fn compare_pictures(&self) {
        self.open("about:blank");
        for (name, taken) in self.pictures.borrow().iter() {
            let stored = encoded(&std::fs::read(picture_file(name)).unwrap());
            let differing = self.run_async(&format!("({DIFFERING_CELLS})('{taken}', '{stored}')"));
            let share = differing.as_f64().unwrap_or_else(|| panic!("{name}: {differing}"));
            eprintln!("{name}: {:.1} % of the picture differ", share * 100.0);
            assert!(
                share < 0.1,
                "{name} does not look like its picture: {:.0} % differ; scripts/inspect.sh writes it",
                share * 100.0
            );
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A test that failed may have left anything behind.
        let is_wanted = self.is_common && !std::thread::panicking() && WAITING.load(Ordering::SeqCst) > 0;
        *self.turn = self.driver.take().filter(|_| is_wanted);
    }
}

impl Driver {
    fn start(options: &[&str]) -> Self {
        let mut process =
            Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let said = (&mut output).lines().map_while(Result::ok).find(|line| line.contains("successfully on port"));
        let said = said.expect("chromedriver says its port");
        let port: u16 = said.trim_end_matches('.').rsplit(' ').next().unwrap().parse().unwrap();
        let mut driver = Self {
            process,
            address: SocketAddr::from(([127, 0, 0, 1], port)),
            session: String::new(),
            _output: output,
            profile: tempfile::tempdir().unwrap(),
        };
        driver.open_session(options);
        driver
    }

    /// The same browser without anything that a test did: an empty window instead of all that there are, without cookies,
    /// stored pages and messages. What a page stores belongs to the port of its server, and so to one test.
    fn with_new_window(self) -> Self {
        let used = self.command("GET", "window/handles", &Value::Null);
        let new = self.command("POST", "window/new", &json!({"type": "tab"}))["handle"].take();
        for handle in used.as_array().unwrap() {
            self.command("POST", "window", &json!({ "handle": handle }));
            self.command("DELETE", "window", &json!({}));
        }
        self.command("POST", "window", &json!({ "handle": new }));
        for forgotten in ["Network.clearBrowserCookies", "Network.clearBrowserCache"] {
            self.command("POST", "goog/cdp/execute", &json!({"cmd": forgotten, "params": {}}));
        }
        self.command("POST", "se/log", &json!({"type": "browser"}));
        self
    }

    fn open_session(&mut self, options: &[&str]) {
        let profile = format!("--user-data-dir={}", self.profile.path().display());
        // The last four keep the browser from asking the network for anything.
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--window-size=1280,800",
            "--hide-scrollbars",
            "--force-device-scale-factor=1",
            "--lang=en-GB",
            "--disable-quic",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            &profile,
        ];
        let arguments = [&arguments[..], options].concat();
        let options = json!({ "args": arguments });
        let capabilities = json!({"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options,
            "timeouts": {"script": 60_000, "pageLoad": 60_000}, "goog:loggingPrefs": {"browser": "ALL"}}}});
        let answer = self.call("POST", "/session", &capabilities);
        self.session = format!("/session/{}", answer["sessionId"].as_str().unwrap());
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let host = format!("Host: {}", self.address);
        let text = if method == "GET" { String::new() } else { body.to_string() };
        let headers = [host, "Content-Type: application/json".to_owned()];
        let answer = raw::send(self.address, &format!("{method} {path}"), &headers, &text);
        let value = answer.json()["value"].take();
        assert_eq!(answer.status, 200, "{method} {path}: {value:#}");
        value
    }

    fn command(&self, method: &str, command: &str, body: &Value) -> Value {
        self.call(method, &format!("{}/{command}", self.session), body)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let address = self.address;
        let (line, host) = (format!("DELETE {}", self.session), format!("Host: {address}"));
        if !self.session.is_empty() {
            let _ = std::panic::catch_unwind(|| raw::send(address, &line, &[host], ""));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn picture_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/pictures/inspect-{name}.png"))
}

fn encoded(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = bytes.chunks(3).map(|group| {
        let bits =
            (0..3).fold(0_u32, |bits, index| bits << 8 | u32::from(group.get(index).copied().unwrap_or_default()));
        let letter = |index: usize| char::from(LETTERS[(bits >> (18 - 6 * index) & 63) as usize]);
        (0..4).map(|index| if index <= group.len() { letter(index) } else { '=' }).collect::<String>()
    });
    groups.collect()
}

fn decoded(base64: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters = Vec::from_iter(base64.bytes().filter(|&letter| letter != b'=' && letter != b'\n').map(value));
    letters
        .chunks(4)
        .flat_map(|group| {
            let bits = group.iter().fold(0_u32, |bits, &six| bits << 6 | u32::from(six)) << (6 * (4 - group.len()));
            bits.to_be_bytes()[1..group.len()].to_vec()
        })
        .collect()
}

#[test]
fn pictures_are_decoded_and_encoded() {
    for text in ["foob", "fooba", "foobar", ""] {
        assert_eq!(decoded(&encoded(text.as_bytes())), text.as_bytes());
    }
    assert_eq!(decoded("Zm9vYg=="), b"foob");
    assert_eq!(decoded("Zm9vYmE="), b"fooba");
    assert_eq!(decoded("Zm9v"), b"foo");
}
