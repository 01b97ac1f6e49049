//! `fetch` against a real server on this machine.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use super::common::{Project, reason, tool_call};
use hookrail_testkit::{RunningProgram, TestProject};
use serde_json::{Value, json};

/// A server that answers what its paths say, and remembers what it was asked.
struct Server {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let heard = Arc::clone(&heard);
                thread::spawn(move || serve(stream.unwrap(), &heard));
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, heard: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while reader.read_line(&mut head).unwrap() > 2 {}
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    let path = head.split_whitespace().nth(1).unwrap().to_owned();
    let header = |name: &str| {
        let line = head.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}:")));
        line.and_then(|line| line.split_once(": ")).map(|(_, value)| value.to_owned()).unwrap_or_default()
    };
    let method = head.split_whitespace().next().unwrap();
    let said = String::from_utf8_lossy(&body).into_owned();
    heard.lock().unwrap().push(format!("{method} {path} {} {} {said}", header("x-key"), header("content-type")));
    let (status, more, body): (&str, &str, &[u8]) = match path.as_str() {
        "/moved" => ("302 Found", "Location: /json\r\n", b"over there"),
        "/missing" => ("404 Not Found", "", b"nothing here"),
        "/bytes" => ("200 OK", "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n", &[0, 255, 13, 10, 13, 10]),
        "/hang" => {
            // Until the client closes the connection.
            let _ = reader.read(&mut [0]);
            heard.lock().unwrap().push("gone".to_owned());
            return;
        }
        _ => ("200 OK", "Content-Type: application/json\r\n", r#"{"text":"grüße"}"#.as_bytes()),
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{more}\r\n", body.len());
    let stream = reader.get_mut();
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

fn has_curl() -> bool {
    let found = Command::new("curl").arg("--version").output().is_ok();
    assert!(found || std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_none(), "curl is missing");
    if !found {
        eprintln!("skipped: curl is missing");
    }
    found
}

/// What a module says that may use the network, in an environment with this search path.
fn says(search: Option<&str>, body: &str) -> Value {
    says_with(&["read", "network"], search, body)
}

fn says_with(capabilities: &[&str], search: Option<&str>, body: &str) -> Value {
    let project = Project::new();
    project.write(
        "x.ts",
        format!("export default (pi) => {{ pi.on('tool_call', async () => {{ try {{ return {{ block: true, reason: JSON.stringify(await (async () => {{ {body} }})()) }}; }} catch (e) {{ return {{ block: true, reason: JSON.stringify([e.name, e.message]) }}; }} }}); }};"),
    );
    let mut builder = project.builder(&["x.ts"]);
    if let Some(search) = search {
        builder = builder.environment([("PATH", search)].into_iter().collect());
    }
    let capabilities = hookrail::module::Capabilities::parse(capabilities.iter().copied()).unwrap();
    let system = builder.runner(hookrail_js::modules()).capabilities(capabilities).build();
    let said = reason(&system.fire_blocking(tool_call(&system)));
    system.shutdown_blocking();
    serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"))
}

#[test]
fn an_answer_has_status_headers_and_a_body() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let url = &server.address;
    let read = says(
        None,
        &format!(
            "const r = await fetch('{url}/json', {{ headers: {{ 'X-Key': 'se\"cret' }} }}); const copy = r.clone(); return [r.status, r.ok, r.statusText, r.headers.get('content-type'), (await r.json()).text, await copy.text(), r.url, r.redirected, r.bodyUsed];"
        ),
    );
    assert_eq!(
        read,
        json!([
            200,
            true,
            "OK",
            "application/json",
            "grüße",
            "{\"text\":\"grüße\"}",
            format!("{url}/json"),
            false,
            true
        ])
    );
    assert_eq!(server.asked(), ["GET /json se\"cret  "]);
    let missing = says(
        None,
        &format!("const r = await fetch(new URL('{url}/missing')); return [r.status, r.ok, await r.text()];"),
    );
    assert_eq!(missing, json!([404, false, "nothing here"]));
    let bytes = says(
        None,
        &format!("const r = await fetch('{url}/bytes'); return [[...await r.bytes()], r.headers.getSetCookie()];"),
    );
    assert_eq!(bytes, json!([[0, 255, 13, 10, 13, 10], ["a=1", "b=2"]]));
    let head = says(
        None,
        &format!("const r = await fetch('{url}/json', {{ method: 'HEAD' }}); return [r.status, await r.text()];"),
    );
    assert_eq!(head, json!([200, ""]));
}

#[test]
fn bodies_are_sent_as_they_are() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let url = &server.address;
    let sent = says(
        None,
        &format!(
            "await fetch('{url}/a', {{ method: 'POST', headers: {{ 'content-type': 'application/json' }}, body: JSON.stringify({{ a: '\"\\\\\\n@x ü' }}) }});\n\
         await fetch('{url}/b', {{ method: 'PUT', body: new URLSearchParams({{ q: 'a b' }}) }});\n\
         await fetch(new Request('{url}/c', {{ method: 'POST', body: new TextEncoder().encode('bytes') }}));\n\
         await fetch('{url}/d', {{ method: 'DELETE' }}); await fetch('{url}/e', {{ method: 'POST' }});\n\
         try {{ await fetch('{url}/f', {{ body: 'x' }}); }} catch (e) {{ return e.message; }}"
        ),
    );
    assert_eq!(sent, "Request with GET method cannot have body");
    let asked = server.asked();
    assert_eq!(asked[0], r#"POST /a  application/json {"a":"\"\\\n@x ü"}"#);
    assert_eq!(asked[1], "PUT /b  application/x-www-form-urlencoded;charset=UTF-8 q=a+b");
    assert!(asked[2].starts_with("POST /c ") && asked[2].ends_with(" bytes"), "{asked:?}");
    assert_eq!(asked[3], "DELETE /d   ");
    assert!(asked[4].starts_with("POST /e "), "{asked:?}");
}

#[test]
fn a_body_may_have_any_byte_and_leaves_nothing_behind() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let before = kept_bodies();
    let body = r"\0\1\0@x\n\0";
    let sent =
        says(None, &format!("await fetch('{}/a', {{ method: 'POST', body: '{body}' }}); return true;", server.address));
    assert_eq!(sent, true, "{sent}");
    assert_eq!(server.asked(), ["POST /a  text/plain;charset=UTF-8 \0\u{1}\0@x\n\0"]);
    super::common::eventually("the file that held the body is gone", || kept_bodies().is_subset(&before));
}

/// The files that hold bodies now.
fn kept_bodies() -> BTreeSet<OsString> {
    let files = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten().map(|entry| entry.file_name());
    files.filter(|name| name.to_string_lossy().starts_with("hookrail-body-")).collect()
}

#[test]
fn redirections_are_followed_or_not_as_asked() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let url = &server.address;
    let followed = says(
        None,
        &format!(
            "const r = await fetch('{url}/moved', {{ method: 'POST', body: 'x' }}); return [r.status, r.redirected, r.url, (await r.json()).text];"
        ),
    );
    assert_eq!(followed, json!([200, true, format!("{url}/json"), "grüße"]));
    assert!(server.asked()[1].starts_with("GET /json"), "{:?}", server.asked());
    let manual = says(
        None,
        &format!(
            "const r = await fetch('{url}/moved', {{ redirect: 'manual' }}); return [r.status, r.headers.get('location'), await r.text()];"
        ),
    );
    assert_eq!(manual, json!([302, "/json", "over there"]));
    let error = says(None, &format!("await fetch('{url}/moved', {{ redirect: 'error' }});"));
    assert_eq!(error, json!(["TypeError", "fetch failed: it was redirected"]));
}

#[test]
fn a_request_ends_when_its_signal_says_so() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let url = &server.address;
    let aborted = says(
        None,
        &format!(
            "const c = new AbortController(); setTimeout(() => c.abort(), 300); await fetch('{url}/hang', {{ signal: c.signal }});"
        ),
    );
    assert_eq!(aborted, json!(["AbortError", "This operation was aborted"]));
    let late = says(None, &format!("await fetch('{url}/hang', {{ signal: AbortSignal.timeout(300) }});"));
    assert_eq!(late[0], "TimeoutError");
    super::common::eventually("both processes are gone", || {
        server.asked().iter().filter(|asked| *asked == "gone").count() == 2
    });
    let before = says(None, &format!("await fetch('{url}/json', {{ signal: AbortSignal.abort() }});"));
    assert_eq!(before[0], "AbortError");
    assert!(!server.asked().iter().any(|asked| asked.starts_with("GET /json")), "{:?}", server.asked());
}

#[test]
fn what_cannot_work_says_why() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = says(None, &format!("await fetch('http://{gone}/');"));
    assert!(refused[1].as_str().unwrap().contains("onnect"), "{refused}");
    // TLS is spoken to a server that does not know it.
    let plain = says(None, &format!("await fetch('{}/json');", server.address.replace("http:", "https:")));
    assert!(plain[1].as_str().unwrap().starts_with("fetch failed: (35)"), "{plain}");
    let scheme = says(None, "await fetch('file:///etc/passwd');");
    assert!(scheme[1].as_str().unwrap().contains("http and https"), "{scheme}");
    let header = says(None, &format!("await fetch('{}/json', {{ headers: {{ a: 'b\\r\\nc: d' }} }});", server.address));
    assert!(header[1].as_str().unwrap().contains("cannot be a header"), "{header}");
    let no_curl = says(Some("/nowhere"), &format!("await fetch('{}/json');", server.address));
    assert!(no_curl[1].as_str().unwrap().contains("the program `curl`, which was not found"), "{no_curl}");
}

/// A server that speaks TLS with a certificate that no authority has signed.
struct Unvouched {
    address: String,
    _program: RunningProgram,
    _certificate: TestProject,
}

impl Unvouched {
    /// None where there is no `openssl` to be it.
    fn start() -> Option<Self> {
        let folder = TestProject::new();
        let openssl = |arguments: &str| {
            let mut command = Command::new("openssl");
            command.args(arguments.split(' ')).current_dir(&folder.project).stdin(Stdio::null()).stderr(Stdio::null());
            command
        };
        let mut made =
            openssl("req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -subj /CN=localhost -days 1");
        let made = made.status().is_ok_and(|status| status.success());
        assert!(made || std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_none(), "openssl is missing");
        if !made {
            eprintln!("skipped: openssl is missing");
            return None;
        }
        let mut server = openssl("s_server -accept 127.0.0.1:0 -key key.pem -cert cert.pem -www");
        let mut program = RunningProgram::start(server.stdout(Stdio::piped()));
        // It says where it listens once it does.
        let lines = BufReader::new(program.stdout.take().unwrap()).lines();
        let address = lines.map_while(Result::ok).find_map(|line| line.strip_prefix("ACCEPT ").map(str::to_owned));
        Some(Self { address: format!("https://{}", address.unwrap()), _program: program, _certificate: folder })
    }
}

#[test]
fn a_certificate_of_an_unknown_issuer_is_refused_in_one_line() {
    if !has_curl() {
        return;
    }
    let Some(server) = Unvouched::start() else { return };
    let refused = says(None, &format!("return (await fetch('{}/')).status;", server.address));
    assert_eq!(refused[0], "TypeError", "{refused}");
    let why = refused[1].as_str().unwrap();
    assert!(why.starts_with("fetch failed: (60) ") && why.contains("certificate") && !why.contains('\n'), "{why}");
}

#[test]
fn without_the_capability_nothing_is_asked() {
    let server = Server::start();
    let project = Project::new();
    let system = project.module(&format!(
        "export default (pi) => {{ pi.on('tool_call', async () => {{ try {{ await fetch('{}/json'); }} catch (e) {{ return {{ block: true, reason: e.code + ' ' + e.message }}; }} }}); }};",
        server.address
    ));
    let said = reason(&system.fire_blocking(tool_call(&system)));
    assert!(said.starts_with("EACCES") && said.contains("`network`"), "{said}");
    assert!(server.asked().is_empty());
}

#[test]
fn nothing_of_a_request_is_read_as_an_option_or_as_a_file() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let url = &server.address;
    let folder = TestProject::new();
    let secret = folder.write("secret", "X-Key: the-secret");
    let (secret, out) = (secret.display(), folder.project.join("out"));
    let shown = out.display();
    for request in [
        format!("'{url}/a', {{ headers: [['@{secret}', 'x']] }}"),
        format!("'{url}/a', {{ headers: [['@{secret}', '']] }}"),
        format!("'{url}/a', {{ headers: [['-o {shown}', 'x']] }}"),
        format!("'{url}/a', {{ headers: [['', '@{secret}']] }}"),
        format!("'{url}/a', {{ method: '@{secret}' }}"),
        format!("'{url}/a', {{ method: '-o{shown}' }}"),
        format!("'{url}/a', {{ method: 'GET\\noutput = {shown}' }}"),
        format!("'-o{shown}'"),
        "'--version'".to_owned(),
        format!("'@{secret}'"),
        format!("'file://{secret}'"),
    ] {
        let refused = says(None, &format!("return (await fetch({request})).status;"));
        assert_eq!(refused[0], "TypeError", "{request}: {refused}");
    }
    assert!(server.asked().is_empty(), "{:?}", server.asked());
    // What may stand in a request is sent as it is.
    let sent = says(
        None,
        &format!(
            "await fetch('{url}/@{secret}', {{ headers: {{ 'X-Key': '@{secret}' }} }});\n\
             await fetch('{url}/-o{shown}?a={{1,2}}[1-3]', {{ method: 'POST', headers: {{ 'X-Key': '-o {shown}' }}, body: '@{secret}' }});\n\
             try {{ await fetch('{url}/b\"\\noutput = \"{shown}'); }} catch {{}} return true;"
        ),
    );
    assert_eq!(sent, true, "{sent}");
    let asked = server.asked();
    assert!(asked[0].contains(&format!(" @{secret} ")) && asked[1].ends_with(&format!(" @{secret}")), "{asked:?}");
    assert!(!asked.iter().any(|asked| asked.contains("the-secret")), "{asked:?}");
    assert!(!out.exists(), "a request wrote a file");
}

#[test]
fn a_capability_for_hosts_reaches_no_others() {
    if !has_curl() {
        return;
    }
    let server = Server::start();
    let url = &server.address;
    let port = url.rsplit(':').next().unwrap();
    let status =
        |capability: &str, url: &str| says_with(&[capability], None, &format!("return (await fetch('{url}')).status;"));
    assert_eq!(status("network:127.0.0.1", &format!("{url}/json")), 200);
    assert_eq!(status(&format!("network:127.0.0.1:{port}"), &format!("{url}/json")), 200);
    let before = server.asked().len();
    for (capability, url) in [
        ("network:api.example.com", format!("{url}/json")),
        ("network:127.0.0.1:1", format!("{url}/json")),
        ("network:127.0.0.1", format!("http://localhost:{port}/json")),
        ("network:api.example.com", format!("http://api.example.com@127.0.0.1:{port}/")),
        ("network:api.example.com", format!("http://api.example.com:x@127.0.0.1:{port}/")),
        ("network:api.example.com", format!("http://127.0.0.1:{port}\\\\@api.example.com/")),
        ("network:api.example.com", format!("http://127.0.0.1:{port}#@api.example.com/")),
        ("read", format!("{url}/json")),
    ] {
        let refused = status(capability, &url);
        assert!(refused[1].as_str().is_some_and(|why| why.contains("refused")), "{capability} {url}: {refused}");
    }
    assert_eq!(server.asked().len(), before);
    let moved = status("network:127.0.0.1", &format!("{url}/moved"));
    assert!(moved[1].as_str().is_some_and(|why| why.contains("redirection")), "{moved}");
    let manual = says_with(
        &["network:127.0.0.1"],
        None,
        &format!("return (await fetch('{url}/moved', {{ redirect: 'manual' }})).status;"),
    );
    assert_eq!(manual, 302);
    assert_eq!(server.asked().len(), before + 2, "no redirection was followed");
}
