//! System calls that reach out of a sandbox, and programs that have to work inside of one.

#![cfg(target_os = "linux")]

use std::path::Path;

use hookrail_spawn::{ChildEnd, ChildResult, Network, SandboxRules};
use hookrail_testkit::has_program;

use super::sandbox::{Lab, guard, run_outside};

/// The error that a refused call returns.
const NOT_IMPLEMENTED: i32 = libc::ENOSYS;

/// What every program starts with: `call` makes a system call by its number for this processor, and returns its error.
const PRELUDE: &str = r"
import array, ctypes, os, platform, socket, struct, sys
library = ctypes.CDLL(None, use_errno=True)
kept, other, intel = b'kept', int(sys.argv[1]), platform.machine() == 'x86_64'
def call(intel_number, arm_number, *arguments):
    arguments = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    failed = library.syscall(ctypes.c_long(intel_number if intel else arm_number), *arguments) < 0
    return ctypes.get_errno() if failed else 0
def opened():
    return os.open(kept, os.O_RDONLY)
HERE = -100
";

/// How a call ends without a sandbox.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outside {
    Works,
    /// The kernel or the file system may lack it, or the user may not be allowed to.
    Depends,
}
use Outside::{Depends, Works};

/// Calls that change something outside of the sandbox.
const ATTACKS: [(&str, Outside); 22] = [
    // Extended attributes, with the calls that came with Linux 6.13 and 6.17.
    ("call(463, 463, HERE, kept, 0, b'user.x', struct.pack('QII', 0, 0, 0), 16)", Depends),
    ("call(466, 466, HERE, kept, 0, b'user.x')", Depends),
    ("call(469, 469, HERE, kept, bytes(24), 24, 0)", Depends),
    ("call(188, 5, kept, b'user.x', b'x', 1, 0)", Depends),
    ("call(190, 7, opened(), b'user.x', b'x', 1, 0)", Depends),
    // `FS_IOC_SETFLAGS`, `FS_IOC_FSSETXATTR`, `FS_IOC_ENABLE_VERITY`: a descriptor for reading is enough for them.
    ("call(16, 29, opened(), 0x40086602, bytes(8))", Depends),
    ("call(16, 29, opened(), 0x401c5820, bytes(28))", Depends),
    ("call(16, 29, opened(), 0x40806685, bytes(128))", Depends),
    // The times of a file, by path and by descriptor.
    ("call(280, 88, HERE, kept, struct.pack('4q', 1, 0, 1, 0), 0)", Works),
    ("call(280, 88, opened(), 0, struct.pack('4q', 1, 0, 1, 0), 0)", Works),
    ("call(280, 88, opened(), 0, 0, 0)", Works),
    // Its mode, and a lease, which stops others that open it.
    ("call(91, 52, opened(), 0o644)", Works),
    ("call(72, 25, opened(), 1024, 0)", Works),
    // Processors, scheduler, limits and priorities of a process outside, and of all processes of the user.
    ("call(203, 122, other, 8, struct.pack('Q', 1))", Works),
    ("call(144, 119, other, 0, struct.pack('i', 0))", Works),
    ("call(314, 274, other, struct.pack('IIQiIQQQ', 48, 0, 0, 0, 0, 0, 0, 0), 0)", Works),
    ("call(302, 261, other, 4, struct.pack('QQ', 0, 0), 0)", Works),
    ("call(141, 140, 0, other, 10)", Works),
    ("call(141, 140, 2, 0, 0)", Depends),
    ("call(251, 30, 1, other, 2 << 13 | 4)", Works),
    // Memory that other processes of the user attach by its key, and calls that go around the filter.
    ("call(29, 194, 0, 4096, 0o1600)", Works),
    ("call(425, 425, 1, ctypes.create_string_buffer(120))", Depends),
];

/// Calls that change the process itself or nothing.
const HARMLESS: [&str; 7] = [
    "call(203, 122, 0, 128, struct.pack('16Q', *[2**64 - 1] * 16))",
    "call(144, 119, 0, 0, struct.pack('i', 0))",
    "call(302, 261, 0, 4, struct.pack('QQ', 0, 0), 0)",
    "call(141, 140, 0, 0, 10)",
    "call(251, 30, 1, 0, 2 << 13 | 4)",
    "call(16, 29, os.pipe()[0], 0x541b, ctypes.create_string_buffer(8))",
    "call(72, 25, opened(), 1, 0)",
];

/// A command that prints the value of each expression, one in a line.
fn evaluate(expressions: &[impl AsRef<str>], other: u32) -> String {
    let lines: String = expressions.iter().map(|each| format!("print({})\n", each.as_ref())).collect();
    format!("python3 -c '{}' {other}", format!("{PRELUDE}{lines}").replace('\'', "\""))
}

fn errors(finished: &ChildResult) -> Vec<i32> {
    assert_eq!(finished.end, ChildEnd::Exited(0), "{}", finished.stderr.text_lossy());
    finished.stdout.text_lossy().lines().map(|line| line.parse().unwrap()).collect()
}

/// A lab if there is Python, with which these tests make system calls.
fn lab_with_python() -> Option<Lab> {
    has_program("python3").then(|| Lab::new(|_| guard())).flatten()
}

#[tokio::test]
async fn no_call_changes_what_is_outside_and_a_refused_one_seems_not_to_exist() {
    let Some(lab) = lab_with_python() else { return };
    let mut other = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let script = evaluate(&ATTACKS.map(|(attack, _)| attack), other.id());
    let inside = errors(&lab.run(&script).await);
    let outside = errors(&run_outside(&lab, &script).await);
    for (((attack, control), inside), outside) in ATTACKS.into_iter().zip(inside).zip(outside) {
        assert_eq!(inside, NOT_IMPLEMENTED, "{attack}");
        assert!(control == Depends || outside == 0, "outside {attack} ended with {outside}");
    }
    let harmless = errors(&lab.run(&evaluate(&HARMLESS, other.id())).await);
    assert_eq!(harmless, HARMLESS.map(|_| 0));
    other.kill().unwrap();
    other.wait().unwrap();
}

#[tokio::test]
async fn a_call_that_the_kernel_does_not_have_yet_is_refused() {
    let Some(lab) = lab_with_python() else { return };
    // The last is `getpid` of the x32 ABI.
    let calls = [480, 600, 1023, 0x4000_0000 + 39].map(|number| format!("call({number}, {number})"));
    assert_eq!(errors(&lab.run(&evaluate(&calls, 0)).await), calls.map(|_| NOT_IMPLEMENTED));
}

#[tokio::test]
async fn without_network_no_pair_of_sockets_reaches_a_service() {
    let Some(denied) = lab_with_python() else { return };
    let Some(allowed) = Lab::new(|_| SandboxRules { network: Network::Allowed, ..guard() }) else { return };
    let send = "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', 'service')";
    let connect = "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].connect('service')";
    for lab in [&denied, &allowed] {
        let service = std::os::unix::net::UnixDatagram::bind(lab.path("service")).unwrap();
        service.set_nonblocking(true).unwrap();
        let is_allowed = std::ptr::eq(lab, &raw const allowed);
        for attack in [send, connect] {
            let finished = lab.run(&evaluate(&[attack], 0)).await;
            assert_eq!(finished.end == ChildEnd::Exited(0), is_allowed, "{attack}: {}", finished.stderr.text_lossy());
        }
        assert_eq!(service.recv(&mut [0; 8]).is_ok(), is_allowed);
    }
    denied.works(&evaluate(&["[a.sendall(b'x') or b.recv(1) for a, b in [socket.socketpair()]]"], 0)).await;
}

#[tokio::test]
async fn no_process_gets_a_namespace_of_its_own() {
    let Some(lab) = has_program("unshare").then(|| Lab::new(|_| guard())).flatten() else { return };
    lab.is_refused("unshare --user true").await;
    lab.works("true").await;
}

/// Programs that hooks are written with, each at something that it does in hooks.
const PROGRAMS: [(&str, &str); 10] = [
    (
        "bash",
        "bash -c 'set -o pipefail; x=$(echo a | tr a b); [[ $x == b ]] && read -r y < <(echo c) && [[ $y == c ]]'",
    ),
    (
        "python3",
        "python3 -c 'import json, subprocess, tempfile, threading; tempfile.TemporaryFile(); assert subprocess.run([\"true\"]).returncode == 0'",
    ),
    (
        "node",
        "node -e 'const {execFileSync} = require(\"child_process\"); execFileSync(\"true\"); new (require(\"worker_threads\").Worker)(\"0\", {eval: true})'",
    ),
    (
        "git",
        "git -C repository status --porcelain && git -C repository log --oneline | grep -q first && git -C repository diff HEAD",
    ),
    ("jq", "echo '{\"a\":1}' | jq -e '.a == 1'"),
    ("perl", "perl -e 'exit(`echo x` eq \"x\\n\" ? 0 : 1)'"),
    ("grep", "grep -rq kept . && find . -name kept | grep -q kept && sort kept | uniq | head -1"),
    ("awk", "echo 'a b' | awk '{ exit $2 != \"b\" }' && echo x | sed s/x/y/ | grep -q y"),
    ("timeout", "timeout 30 true && nice true && echo x | xargs -n1 -P2 true"),
    ("tar", "tar cf \"$TMPDIR/kept.tar\" kept && tar tf \"$TMPDIR/kept.tar\" && gzip -c kept | gzip -d | cmp - kept"),
];

#[tokio::test]
async fn programs_that_hooks_are_written_with_work() {
    let Some(lab) = Lab::new(|_| guard()) else { return };
    if has_program("git") {
        let made = "git init -q repository && cd repository && echo x > file && git add file && \
                    git -c user.name=a -c user.email=a@b commit -qm first && echo y > file";
        let finished = run_outside(&lab, made).await;
        assert_eq!(finished.end, ChildEnd::Exited(0), "{}", finished.stderr.text_lossy());
    }
    for (_, script) in PROGRAMS.into_iter().filter(|(program, _)| has_program(program)) {
        lab.works(script).await;
    }
    assert!(!Path::new("/tmp/kept.tar").exists());
}
