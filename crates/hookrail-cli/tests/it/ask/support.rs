//! A server, workers and a machine that asks, each in a temporary folder.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use hookrail::{Environment, Event, EventKind, HookSystem, Json, Outcome};
use hookrail_fleet::ask::AskClient;
use hookrail_fleet::nats::{FleetMember, MemberKey};
use hookrail_fleet::servers::{Admission, FleetPlan, MemberRole, Members, TenantMember};
use hookrail_testkit::{
    NatsServerProcess, ProgramOutput, RunningProgram, TestProject, enabled_hooks, free_server_ports,
    nats_server_program,
};
use serde_json::{Value, json};

/// Servers with two members: `desk`, which asks every group of its tenant, and `guard`, which answers the group `guards`.
pub(crate) struct Net {
    pub(crate) servers: Vec<NatsServerProcess>,
    /// The addresses of all servers, with commas between them.
    pub(crate) addresses: String,
    pub(crate) desk: TestProject,
    pub(crate) guard: TestProject,
}

/// A hook that asks the workers.
pub(crate) fn remote(more: &Value) -> Value {
    let mut hook =
        json!({"type": "remote", "name": "central", "group": "guards", "timeout": 20_000, "onFailure": "block"});
    hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    hook
}

fn settings(hook: &Value) -> String {
    enabled_hooks(&json!({"BeforeTool": [{"hooks": [hook]}]}))
}

/// Writes the file of a member with a new key, and admits it.
fn admit(members: &mut Members, folder: &Path, name: &str, role: MemberRole, addresses: &str) {
    std::fs::create_dir_all(folder).unwrap();
    let key = MemberKey::generate().unwrap();
    key.write_new(&folder.join("member.seed")).unwrap();
    let servers = addresses.replace(',', "\", \"");
    let text = format!(
        "tenant = \"acme\"\nmember = \"{name}\"\n\n[nats]\nservers = [\"{servers}\"]\nseed = \"member.seed\"\n"
    );
    std::fs::write(folder.join("member.toml"), text).unwrap();
    let member = TenantMember { name: name.parse().unwrap(), key: key.public(), signing_key: None, role };
    members.admit(member, Admission::New).unwrap();
}

impl Net {
    /// Starts a server; nothing if there is no program for it.
    pub(crate) fn start() -> Option<Self> {
        Self::start_servers(1)
    }

    /// Starts several servers that form a cluster.
    pub(crate) fn start_servers(count: usize) -> Option<Self> {
        let program = nats_server_program()?;
        let ports = free_server_ports(count);
        let (desk, guard) = (TestProject::new(), TestProject::new());
        let (tenant, folder) = ("acme".parse().unwrap(), guard.path("fleet"));
        let named = ports.iter().enumerate().map(|(number, port)| format!("n{}=127.0.0.1:{port}", number + 1));
        let servers = named.map(|server| server.parse().unwrap()).collect();
        let plan = FleetPlan { servers, tenants: vec!["acme".parse().unwrap()], store: guard.path("store"), tls: None };
        plan.write(&folder).unwrap();
        let addresses: Vec<String> = ports.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
        let addresses = addresses.join(",");
        let mut members = Members::read(&folder, &tenant).unwrap();
        let machine = MemberRole::Machine { channel: "stable".parse().unwrap() };
        admit(&mut members, &desk.path("home/.config/hookrail"), "desk", machine, &addresses);
        let worker = MemberRole::Worker { group: "guards".parse().unwrap() };
        admit(&mut members, &guard.path("home/.config/hookrail"), "guard", worker, &addresses);
        members.write().unwrap();
        let start = |(number, port): (usize, &u16)| {
            NatsServerProcess::start(&program, &folder.join(format!("n{}.conf", number + 1)), *port)
        };
        let servers = ports.iter().enumerate().map(start).collect();
        Some(Self { servers, addresses, desk, guard })
    }

    /// Configures what the user of the machine asks.
    pub(crate) fn ask_with(&self, hook: &Value) {
        self.desk.write_home(".llxprt/settings.json", settings(hook));
    }

    /// Starts a worker whose hook for tool calls runs this command.
    pub(crate) fn worker(&self, command: &str, more: &[&str]) -> RunningProgram {
        self.guard_with(command);
        self.worker_as_configured(more)
    }

    /// Configures the hook of workers for tool calls.
    pub(crate) fn guard_with(&self, command: &str) {
        let hook = json!({"type": "command", "name": "policy", "command": command});
        self.guard.write_home(".llxprt/settings.json", settings(&hook));
    }

    pub(crate) fn worker_as_configured(&self, more: &[&str]) -> RunningProgram {
        let mut child = self.worker_command(&self.addresses, more);
        let mut child = child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("answering group `guards` of tenant `acme`") {
            assert!(log.read_line(&mut said).unwrap() > 0, "the worker has ended: {said}");
        }
        // What it logs is read, so that it never waits for a reader.
        std::thread::spawn(move || log.read_to_string(&mut String::new()));
        RunningProgram::from(child)
    }

    pub(crate) fn worker_command(&self, url: &str, more: &[&str]) -> Command {
        let mut command = self.guard.command(env!("CARGO_BIN_EXE_hookrail"));
        command.args(["serve", "--nats", url, "--group", "guards"]).args(more);
        command
    }

    /// Fires a tool call of the machine with the binary.
    pub(crate) fn fire(&self, more: &[&str]) -> Value {
        let mut command = self.desk.command(env!("CARGO_BIN_EXE_hookrail"));
        command
            .args(["fire", "BeforeTool", "--tool", "write_file", "--tool-input", r#"{"path":"a"}"#, "--json"])
            .args(more);
        ProgramOutput::capture(&mut command).json()
    }

    /// The hook system of the machine, in this process: many events over one connection.
    pub(crate) fn system(&self) -> HookSystem {
        let member = FleetMember::read(&self.desk.path("home/.config/hookrail/member.toml")).unwrap();
        let environment: Environment =
            self.desk.variables().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        HookSystem::builder(&self.desk.project)
            .environment(environment)
            .remote_client(Arc::new(AskClient::new(member)))
            .build()
    }
}

/// A tool call with a number in its input.
pub(crate) fn tool_call(system: &HookSystem, number: usize) -> Event {
    let input = Json::parse(&format!(r#"{{"path":"file-{number}"}}"#)).unwrap();
    let event = Event::new(EventKind::BeforeTool, system.project());
    event.session(format!("s{number}")).with_text("tool_name", "write_file").with("tool_input", input)
}

/// Fires tool calls on several threads until `is_over` says so, at least one on each. Returns their outcomes.
pub(crate) fn fire_until(system: &HookSystem, threads: usize, is_over: impl Fn() -> bool + Sync) -> Vec<Outcome> {
    let fire = |thread: usize| {
        let mut outcomes = Vec::new();
        loop {
            outcomes.push(system.fire_blocking(tool_call(system, thread * 1_000_000 + outcomes.len())));
            if is_over() {
                return outcomes;
            }
        }
    };
    std::thread::scope(|scope| {
        let fire = &fire;
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || fire(thread))).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}
