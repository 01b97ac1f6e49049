//! The other implementations that are measured in the same run, each in its own process with one request per line.
//!
//! A peer is installed into an ignored folder beside this crate when it is first needed. A peer that cannot be
//! installed is reported and left out.

mod driver;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use hookrail::Environment;
use serde_json::{Value, json};

pub(crate) use driver::PeerDriver;

use crate::BenchResult;

/// A peer that runs, shared by the variants of a case.
pub(crate) type SharedDriver = Rc<RefCell<PeerDriver>>;

const GEMINI: &str = "@google/gemini-cli-core@0.61.0";
const BUN: &str = "bun@1.4.4";

/// The installed peers and their versions.
pub(crate) struct Peers {
    install: bool,
    known: RefCell<BTreeMap<&'static str, std::result::Result<PathBuf, String>>>,
    running: RefCell<BTreeMap<&'static str, SharedDriver>>,
}

impl Peers {
    pub(crate) fn new(install: bool) -> Self {
        Self { install, known: RefCell::default(), running: RefCell::default() }
    }

    /// Returns the version of each peer, or the reason why it is missing.
    pub(crate) fn report(&self) -> BTreeMap<String, String> {
        let version = |(name, place): (&&str, &std::result::Result<PathBuf, String>)| {
            let said = match place {
                Ok(place) => version(name, place),
                Err(why) => format!("missing: {why}"),
            };
            ((*name).to_owned(), said)
        };
        self.known.borrow().iter().map(version).collect()
    }

    /// The hook classes of Gemini CLI, in Node.
    pub(crate) fn gemini(&self, environment: &Environment) -> BenchResult<SharedDriver> {
        self.running("gemini-cli-core", || {
            let package = self.gemini_package()?;
            PeerDriver::start(
                Command::new(self.node()?).arg("--expose-gc").arg(script("gemini.mjs")).arg(package),
                environment,
            )
        })
    }

    pub(crate) fn gemini_package(&self) -> BenchResult<PathBuf> {
        self.place("gemini-cli-core", || self.npm("gemini", GEMINI, "node_modules/@google/gemini-cli-core"))
    }

    /// The crate `opendev-hooks`, in a separate program.
    pub(crate) fn opendev(&self, environment: &Environment) -> BenchResult<SharedDriver> {
        let program = self.place("opendev-hooks", || self.cargo())?;
        self.running("opendev-hooks", || PeerDriver::start(&mut Command::new(&program), environment))
    }

    pub(crate) fn node(&self) -> BenchResult<PathBuf> {
        self.place("node", || on_path("node"))
    }

    pub(crate) fn python(&self) -> BenchResult<PathBuf> {
        // The interpreter itself, because the wrapper of a version manager would take most of the measured time.
        self.place("python3", || match Path::new("/usr/bin/python3") {
            path if path.exists() => Ok(path.to_owned()),
            _ => on_path("python3"),
        })
    }

    pub(crate) fn bun(&self) -> BenchResult<PathBuf> {
        self.place("bun", || {
            let package = self.npm("bun", BUN, "node_modules/bun")?;
            // The program is in a separate package, until the install script moves it.
            let own = std::fs::read_dir(package.with_file_name("@oven")).into_iter().flatten();
            let mut places: Vec<PathBuf> = own.filter_map(|entry| Some(entry.ok()?.path().join("bin/bun"))).collect();
            places.push(package.join("bin/bun.exe"));
            places.into_iter().find(|path| path.is_file()).ok_or_else(|| "it has no program for this machine".into())
        })
    }

    fn running(
        &self,
        name: &'static str,
        start: impl FnOnce() -> BenchResult<PeerDriver>,
    ) -> BenchResult<SharedDriver> {
        if let Some(driver) = self.running.borrow().get(name) {
            return Ok(Rc::clone(driver));
        }
        let driver = Rc::new(RefCell::new(start().map_err(|error| format!("{name}: {error}"))?));
        self.running.borrow_mut().insert(name, Rc::clone(&driver));
        Ok(driver)
    }

    fn place(&self, name: &'static str, find: impl FnOnce() -> BenchResult<PathBuf>) -> BenchResult<PathBuf> {
        let known = self.known.borrow().get(name).cloned();
        let place = known.unwrap_or_else(|| {
            let found = find().map_err(|error| error.to_string());
            self.known.borrow_mut().insert(name, found.clone());
            found
        });
        place.map_err(|why| format!("{name} is missing: {why}").into())
    }

    /// A package of the npm registry, and the path inside it that shows it is there.
    fn npm(&self, folder: &str, package: &str, shows: &str) -> BenchResult<PathBuf> {
        let folder = installed().join(folder);
        let wanted = folder.join(shows);
        if !wanted.exists() {
            self.may_install()?;
            eprintln!("      installing {package}");
            std::fs::create_dir_all(&folder)?;
            std::fs::write(folder.join("package.json"), json!({"private": true}).to_string())?;
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", package]).current_dir(&folder);
            finish(&mut npm)?;
        }
        if wanted.exists() { Ok(wanted) } else { Err(format!("{package} holds no {shows}").into()) }
    }

    fn cargo(&self) -> BenchResult<PathBuf> {
        let target = installed().join("opendev");
        let program = target.join("release/opendev-driver");
        if !program.exists() {
            self.may_install()?;
            eprintln!("      building opendev-hooks");
            let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            let manifest = script("opendev").join("Cargo.toml");
            cargo.args(["build", "--release", "--locked", "--quiet", "--manifest-path"]).arg(manifest);
            finish(cargo.arg("--target-dir").arg(target))?;
        }
        Ok(program)
    }

    fn may_install(&self) -> BenchResult<()> {
        if self.install { Ok(()) } else { Err("it is not installed, and `--no-install` was given".into()) }
    }
}

/// Where peers are installed.
fn installed() -> PathBuf {
    script(".installed")
}

/// A file of this crate that belongs to a peer.
pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name)
}

fn on_path(name: &str) -> BenchResult<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    found.ok_or_else(|| "it is not on the PATH".into())
}

fn finish(command: &mut Command) -> BenchResult<()> {
    let done = command.output()?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(said.lines().last().unwrap_or("it failed and said nothing").to_owned().into())
}

fn version(name: &str, place: &Path) -> String {
    let of_package = |folder: &Path| -> Option<String> {
        let about: Value = serde_json::from_slice(&std::fs::read(folder.join("package.json")).ok()?).ok()?;
        Some(about.get("version")?.as_str()?.to_owned())
    };
    let known = match name {
        "gemini-cli-core" => of_package(place),
        "opendev-hooks" => Some("0.1.4".to_owned()),
        _ => Command::new(place)
            .arg("--version")
            .output()
            .ok()
            .map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned()),
    };
    known.unwrap_or_else(|| "unknown version".to_owned())
}
