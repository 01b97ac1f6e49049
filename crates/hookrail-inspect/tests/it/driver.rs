//! A real browser, driven by the WebDriver protocol: JSON over HTTP to `chromedriver`.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hookrail_testkit::has_program;
use serde_json::{Value, json};

use crate::raw;

/// One browser at a time: a browser takes a few hundred megabytes and both cores of a small machine.
static TURN: Mutex<()> = Mutex::new(());

/// A browser with one window.
pub(crate) struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
    /// A driver whose output nothing can read would end.
    _output: BufReader<ChildStdout>,
    _profile: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

/// Keys that are no characters, as WebDriver writes them.
pub(crate) const ESCAPE: char = '\u{e00c}';
pub(crate) const ENTER: char = '\u{e007}';
pub(crate) const TAB: char = '\u{e004}';

impl Browser {
    /// Starts a browser, if this machine has one.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// Starts a browser with more options.
    pub(crate) fn start_with(options: &[&str]) -> Option<Self> {
        if !has_program("chromium") || !has_program("chromedriver") {
            return None;
        }
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let profile = tempfile::tempdir().unwrap();
        let mut driver =
            Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut output = BufReader::new(driver.stdout.take().unwrap());
        let said = (&mut output).lines().map_while(Result::ok).find(|line| line.contains("successfully on port"));
        let said = said.expect("chromedriver says its port");
        let port: u16 = said.trim_end_matches('.').rsplit(' ').next().unwrap().parse().unwrap();
        let mut browser = Self {
            driver,
            address: SocketAddr::from(([127, 0, 0, 1], port)),
            session: String::new(),
            _output: output,
            _profile: profile,
            _turn: turn,
        };
        browser.open_session(options);
        Some(browser)
    }

    fn open_session(&mut self, options: &[&str]) {
        let profile = format!("--user-data-dir={}", self._profile.path().display());
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

    /// Writes a picture of the window to `docs/pictures`, if pictures are wanted.
    pub(crate) fn picture(&self, name: &str) {
        if std::env::var_os("HOOKRAIL_BLESS").is_none_or(|value| value != "1") {
            return;
        }
        let encoded = self.command("GET", "screenshot", &Value::Null);
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
        std::fs::write(folder.join(format!("inspect-{name}.png")), decoded(encoded.as_str().unwrap())).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let address = self.address;
        let (line, host) = (format!("DELETE {}", self.session), format!("Host: {address}"));
        if !self.session.is_empty() {
            let _ = std::panic::catch_unwind(|| raw::send(address, &line, &[host], ""));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
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
fn pictures_are_decoded() {
    assert_eq!(decoded("Zm9vYg=="), b"foob");
    assert_eq!(decoded("Zm9vYmE="), b"fooba");
    assert_eq!(decoded("Zm9v"), b"foo");
}
