//! A bundle over HTTPS, from a server whose certificate the machine's authorities have to vouch for.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use hookrail_testkit::RunningProgram;

use crate::fleet::support::{Fleet, denying};

struct WebServer {
    _program: RunningProgram,
    address: String,
}

const SERVER: &str = "
import http.server, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2], sys.argv[3])
handler = lambda *args: http.server.SimpleHTTPRequestHandler(*args, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
";

/// Serves the publisher's folder with a new certificate. Nothing if a program for that is missing.
fn serve(fleet: &Fleet) -> Option<WebServer> {
    let made = fleet
        .place_command("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-keyout", "tls.key", "-out", "tls.crt", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"])
        .output();
    if !made.is_ok_and(|output| output.status.success()) {
        return None;
    }
    let mut command: Command = fleet.place_command("python3");
    command.args(["-c", SERVER, "dist", "tls.crt", "tls.key"]).stderr(Stdio::null());
    let mut program = RunningProgram::from(command.spawn().ok()?);
    let mut line = String::new();
    BufReader::new(program.stdout.take()?).read_line(&mut line).ok()?;
    let port: u16 = line.trim().parse().ok()?;
    Some(WebServer { _program: program, address: format!("https://localhost:{port}") })
}

#[test]
fn a_bundle_comes_over_https_from_a_server_that_is_vouched_for() {
    let fleet = Fleet::new();
    fleet.publish(&denying("from the web"), &[]);
    let Some(server) = serve(&fleet) else {
        assert!(std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_none(), "openssl or python3 is missing");
        println!("skipped: openssl or python3 is missing");
        return;
    };
    let apply = |certificates: Option<&str>| {
        let mut command = fleet.command(&["bundle", "apply", &server.address, "--json"]);
        if let Some(file) = certificates {
            command.env("SSL_CERT_FILE", fleet.project.join(file));
        }
        hookrail_testkit::ProgramOutput::capture(&mut command).json()
    };
    let refused = apply(None);
    assert_eq!(refused["reason"], "unreachable", "{refused}");
    let applied = apply(Some("tls.crt"));
    assert_eq!(applied["end"], "switched", "{applied}");
    assert_eq!(fleet.fire().1["reason"], "from the web");
}
