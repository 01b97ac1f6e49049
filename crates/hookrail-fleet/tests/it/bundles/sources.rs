//! Where bundles come from: a folder, a web server, a commit of a git repository. All lead to the same bundle, and none is
//! believed.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::bundles::support::{Fleet, Wanted, source};
use hookrail_fleet::source::{SourceError, SourceLocation};
use hookrail_fleet::{ArchiveDigest, BundleError, publish};

/// Serves the files of a folder until the test ends. Returns its address.
fn serve(folder: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = answer(stream, &folder);
        }
    });
    format!("http://{address}")
}

fn answer(mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let path = request.split(' ').nth(1).unwrap_or_default().trim_start_matches('/').to_owned();
    if path.starts_with("endless/") {
        write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
        return Ok(());
    }
    if path.starts_with("moved/") {
        return write!(stream, "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
    match fs::read(folder.join(&path)) {
        Ok(bytes) => {
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", bytes.len())?;
            stream.write_all(&bytes)
        }
        Err(_) => write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    }
}

fn verify(fleet: &Fleet, location: &SourceLocation) -> Result<ArchiveDigest, BundleError> {
    let scratch = tempfile::tempdir().unwrap();
    let mut opened = location.open(scratch.path(), None)?;
    publish::verify(&mut *opened, std::slice::from_ref(&fleet.keys.key)).map(|(manifest, _)| manifest.digest)
}

#[test]
fn a_folder_and_a_web_server_lead_to_the_same_bundle() {
    let fleet = Fleet::new();
    let manifest = fleet.publish("{}", &Wanted::default());
    assert_eq!(verify(&fleet, &source(&fleet.path("dist"))).unwrap(), manifest.digest);
    let address = serve(fleet.path("dist"));
    assert_eq!(verify(&fleet, &format!("{address}/").parse().unwrap()).unwrap(), manifest.digest);
    for (path, reason) in [("nothing", "not-found"), ("endless", "too-large"), ("moved", "unreachable")] {
        let error = verify(&fleet, &format!("{address}/{path}").parse().unwrap()).unwrap_err();
        assert_eq!(error.reason(), reason, "{error}");
    }
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = verify(&fleet, &format!("http://{closed}").parse().unwrap()).unwrap_err();
    assert_eq!(error.reason(), "unreachable", "{error}");
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main"]);
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_branch_and_a_commit_of_a_git_repository_lead_to_their_bundles() {
    if Command::new("git").arg("--version").output().is_err() {
        assert!(std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_none(), "git is missing");
        println!("skipped: git is missing");
        return;
    }
    let fleet = Fleet::new();
    let repository = fleet.path("policy");
    fs::create_dir(&repository).unwrap();
    git(&repository, &["init", "--quiet"]);
    let commit = |text: &str| {
        let manifest = fleet.publish(text, &Wanted::default());
        let _ = fs::remove_dir_all(repository.join("stable"));
        fs::create_dir(repository.join("stable")).unwrap();
        for entry in fs::read_dir(fleet.path("dist")).unwrap() {
            let file = entry.unwrap().path();
            fs::copy(&file, repository.join("stable").join(file.file_name().unwrap())).unwrap();
        }
        git(&repository, &["add", "."]);
        git(&repository, &["commit", "--quiet", "-m", text]);
        (manifest.digest, git(&repository, &["rev-parse", "HEAD"]))
    };
    let (first, first_commit) = commit("{\"v\": 1}");
    let (second, _) = commit("{\"v\": 2}");
    let at = |reference: &str| -> SourceLocation {
        format!("git+file://{}#{reference}", repository.display()).parse().unwrap()
    };
    assert_eq!(verify(&fleet, &at("main:stable")).unwrap(), second);
    assert_eq!(verify(&fleet, &at(&format!("{first_commit}:stable"))).unwrap(), first);
    assert_eq!(verify(&fleet, &at("main")).unwrap_err().reason(), "not-found");
    assert_eq!(verify(&fleet, &at("elsewhere:stable")).unwrap_err().reason(), "unreachable");
    assert_eq!(verify(&fleet, &at(&format!("{}:stable", "0".repeat(40)))).unwrap_err().reason(), "unreachable");
}

#[test]
fn an_object_store_needs_a_key() {
    let location: SourceLocation = "nats://127.0.0.1:4222".parse().unwrap();
    assert!(matches!(location.open(Path::new("/nowhere"), None).err(), Some(SourceError::NotConfigured(_))));
}
