//! Servers with certificates.

use std::process::Command;

use hookrail_fleet::nats::{FleetMember, NatsError, ReconnectPace};
use hookrail_fleet::servers::FleetPlan;
use hookrail_testkit::{NatsServerProcess, TestProject, free_server_ports, has_program, nats_server_program};

/// Makes an authority and the certificate of a server that it vouches for.
fn certify(place: &TestProject, folder: &str) {
    let folder = place.path(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let openssl = |args: &[&str]| {
        let made = Command::new("openssl").current_dir(&folder).args(args).output().unwrap();
        assert!(made.status.success(), "{args:?}: {}", String::from_utf8_lossy(&made.stderr));
    };
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let authority = ["req", "-x509", "-days", "2", "-keyout", "ca-key.pem", "-out", "ca.pem", "-subj", "/CN=authority"];
    openssl(&[&authority[..], &key].concat());
    openssl(&[&["req", "-keyout", "n1-key.pem", "-out", "n1.csr", "-subj", "/CN=n1"], &key[..]].concat());
    std::fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1\n").unwrap();
    let sign = ["x509", "-req", "-in", "n1.csr", "-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial"];
    openssl(&[&sign[..], &["-out", "n1.pem", "-days", "2", "-extfile", "names"]].concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_believed_if_its_authority_vouches_for_it() {
    let Some(program) = nats_server_program() else { return };
    if !has_program("openssl") {
        return;
    }
    let place = TestProject::new();
    certify(&place, "tls");
    certify(&place, "other");
    let port = free_server_ports(1)[0];
    let plan = FleetPlan {
        servers: vec![format!("n1=127.0.0.1:{port}").parse().unwrap()],
        tenants: vec!["acme".parse().unwrap()],
        store: place.path("store"),
        tls: Some(place.path("tls")),
    };
    plan.write(&place.path("fleet")).unwrap();
    let _server = NatsServerProcess::start(&program, &place.path("fleet/n1.conf"), port);
    let file = place.path("fleet/tenants/acme/auditor.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("tls://127.0.0.1") && text.contains("ca.pem"), "{text}");
    FleetMember::read(&file).unwrap().connect(ReconnectPace::AtOnce).await.unwrap();
    // An authority that did not sign the certificate, and none at all.
    let own = place.path("tls/ca.pem").display().to_string();
    for other in
        [text.replace(&own, &place.path("other/ca.pem").display().to_string()), text.replace("ca = ", "# ca = ")]
    {
        std::fs::write(&file, other).unwrap();
        let refused = FleetMember::read(&file).unwrap().connect(ReconnectPace::AtOnce).await.unwrap_err();
        let is_refused = matches!(refused, NatsError::Tls { .. } | NatsError::Unreachable { .. });
        assert!(is_refused && refused.to_string().contains("certificate"), "{refused}");
    }
}
