//! Starting: what a child gets, and the errors of one that cannot be started.

#![cfg(target_os = "linux")]

use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::support::{Case, stdout};
use hookrail_spawn::{CancelToken, ChildCommand, ChildEnd, Environment, NulPlace, SpawnError, run};
use hookrail_testkit::{TestProject, child};

fn print_args(program: impl Into<std::ffi::OsString>) -> ChildCommand {
    ChildCommand::new(program).arg("print-args")
}

async fn fails(command: ChildCommand) -> SpawnError {
    run(&command, &CancelToken::new()).await.expect_err("the program cannot be started")
}

async fn answers(command: ChildCommand) -> String {
    let finished = run(&command, &CancelToken::new()).await.unwrap();
    assert_eq!(finished.end, ChildEnd::Exited(0));
    stdout(&finished).to_owned()
}

fn path(value: impl AsRef<std::ffi::OsStr>) -> Arc<Environment> {
    Arc::new(Environment::new().with("PATH", value))
}

/// A folder with the child in it under the name `tool`.
fn folder_with_tool() -> TestProject {
    let folder = TestProject::new();
    symlink(child(), folder.project.join("tool")).unwrap();
    folder
}

fn write_script(path: &Path, text: &str, mode: u32) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn the_environment_is_exactly_the_given_one_in_its_order() {
    let environment = Environment::from_iter([("B", "2"), ("A", "1 = x"), ("EMPTY", "")]);
    let command = ChildCommand::new(child()).arg("print-env").env(Arc::new(environment)).marker("MARK", "m");
    assert_eq!(answers(command).await, "B=2\nA=1 = x\nEMPTY=\nMARK=m\n");
}

#[tokio::test]
async fn arguments_arrive_as_they_are() {
    let command = print_args(child()).args(["", "a b", "'\"$x", "ü"]).arg0("my name");
    assert_eq!(answers(command).await, "my name\nprint-args\n\na b\n'\"$x\nü\n");
}

#[tokio::test]
async fn the_child_leads_a_session_of_its_own() {
    let finished = Case::new(&["session-id"]).run().await;
    let pid = finished.pid.unwrap();
    assert_eq!(stdout(&finished), format!("{pid} {pid} {pid}\n"));
}

#[tokio::test]
async fn the_working_directory_is_the_given_one() {
    let folder = TestProject::new();
    let command = ChildCommand::new(child()).arg("print-cwd").cwd(&folder.project);
    assert_eq!(answers(command).await, format!("{}\n", folder.project.display()));
}

#[tokio::test]
async fn a_child_sees_only_its_three_streams_even_if_the_host_leaks_descriptors() {
    let file = std::fs::File::open(child()).unwrap();
    // SAFETY: the descriptor is open, and the command takes an integer.
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFD, 0) };
    assert_eq!(answer, 0);
    assert_eq!(stdout(&Case::new(&["list-fds"]).run().await), "0 1 2\n");
}

#[tokio::test]
async fn the_signal_state_is_clean_whatever_that_of_the_host() {
    // SAFETY: the set is initialised before use; the mask is this thread's own.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGTERM);
        libc::sigaddset(&raw mut set, libc::SIGUSR1);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        libc::signal(libc::SIGUSR2, libc::SIG_IGN);
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
    // Not the child of the testkit: its runtime ignores SIGPIPE by itself.
    let command = ChildCommand::new("/bin/cat").arg("/proc/self/status");
    let status = answers(command).await;
    for line in ["SigBlk:\t0000000000000000\n", "SigIgn:\t0000000000000000\n"] {
        assert!(status.contains(line), "{status}");
    }
}

#[tokio::test]
async fn a_bare_name_is_looked_up_in_the_path_of_the_child() {
    let folder = folder_with_tool();
    let command = print_args("tool").env(path(&folder.project));
    assert_eq!(answers(command).await, "tool\nprint-args\n");
}

#[tokio::test]
async fn a_bare_name_is_not_looked_up_in_the_path_of_the_host() {
    let folder = TestProject::new();
    let error = fails(ChildCommand::new("cat").env(path(&folder.project))).await;
    assert!(matches!(error, SpawnError::ProgramNotFound { program } if program == "cat"));
}

#[tokio::test]
async fn relative_and_empty_entries_of_the_path_are_skipped() {
    let folder = folder_with_tool();
    let inner = folder.project.join("inner");
    std::fs::create_dir(&inner).unwrap();
    for (entry, cwd) in [(".", &folder.project), ("", &folder.project), ("..", &inner), ("inner/..", &folder.project)] {
        let command = print_args("tool").env(path(format!("/nowhere:{entry}"))).cwd(cwd);
        assert!(matches!(fails(command).await, SpawnError::ProgramNotFound { .. }), "entry {entry:?}");
        let command = print_args("tool").env(path(format!("{entry}:{}", folder.project.display()))).cwd(cwd);
        assert_eq!(answers(command).await, "tool\nprint-args\n", "entry {entry:?}");
    }
}

#[tokio::test]
async fn a_relative_program_counts_from_the_directory_of_the_child() {
    let folder = folder_with_tool();
    let command = print_args("./tool").cwd(&folder.project);
    assert_eq!(answers(command).await, "./tool\nprint-args\n");
}

#[tokio::test]
async fn a_file_that_may_not_be_executed_does_not_hide_a_later_one_that_may() {
    let (first, second) = (TestProject::new(), folder_with_tool());
    write_script(&first.project.join("tool"), "", 0o644);
    let both = std::env::join_paths([&first.project, &second.project]).unwrap();
    assert_eq!(answers(print_args("tool").env(path(both))).await, "tool\nprint-args\n");
    let error = fails(print_args("tool").env(path(&first.project))).await;
    assert!(matches!(error, SpawnError::NotExecutable { .. }), "{error:?}");
}

#[tokio::test]
async fn a_missing_working_directory_is_named() {
    for program in [child().into_os_string(), "cat".into(), "./tool".into()] {
        let error = fails(ChildCommand::new(program).cwd("/no/such/place")).await;
        assert_eq!(error.to_string(), "the working directory /no/such/place does not exist");
        assert!(matches!(error, SpawnError::WorkingDirectoryMissing { .. }));
    }
}

#[tokio::test]
async fn a_file_as_working_directory_is_unusable() {
    let file = child();
    let error = fails(ChildCommand::new(child()).cwd(&file)).await;
    match error {
        SpawnError::WorkingDirectoryUnusable { directory, .. } => {
            assert_eq!(directory, file);
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_missing_program_is_not_found() {
    let folder = TestProject::new();
    for program in ["/no/such/program", "./program", "no-such-program", ""] {
        let error = fails(ChildCommand::new(program).cwd(&folder.project)).await;
        assert!(matches!(error, SpawnError::ProgramNotFound { .. }), "{program}: {error:?}");
    }
}

#[tokio::test]
async fn a_program_without_permission_is_not_executable() {
    let folder = TestProject::new();
    let script = folder.project.join("script");
    write_script(&script, "#!/bin/sh\n", 0o644);
    for program in [script.as_path(), &folder.project] {
        let error = fails(ChildCommand::new(program)).await;
        assert!(matches!(error, SpawnError::NotExecutable { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_missing_interpreter_is_not_a_missing_program() {
    let folder = TestProject::new();
    let script = folder.project.join("script");
    write_script(&script, "#!/no/such/interpreter\n", 0o755);
    let error = fails(ChildCommand::new(&script)).await;
    assert!(matches!(error, SpawnError::InterpreterNotFound { .. }), "{error:?}");
}

#[tokio::test]
async fn a_script_without_an_interpreter_line_is_a_bad_format() {
    let folder = TestProject::new();
    let script = folder.project.join("script");
    write_script(&script, "echo hello\n", 0o755);
    let error = fails(ChildCommand::new(&script)).await;
    assert!(matches!(error, SpawnError::BadFormat { .. }), "{error:?}");
}

#[tokio::test]
async fn an_argument_list_that_is_too_long_is_an_error() {
    let error = fails(ChildCommand::new(child()).arg("x".repeat(8 << 20))).await;
    assert!(matches!(error, SpawnError::ArgumentListTooLong { .. }), "{error:?}");
}

#[tokio::test]
async fn a_nul_byte_is_an_error_with_its_place() {
    let variable = Arc::new(Environment::new().with("NAME", "a\0b"));
    let cases = [
        (ChildCommand::new("a\0b"), NulPlace::Program),
        (ChildCommand::new("a").cwd("a\0b"), NulPlace::WorkingDirectory),
        (ChildCommand::new("/a").args(["x", "a\0b"]), NulPlace::Argument(2)),
        (ChildCommand::new("/a").arg0("a\0b"), NulPlace::Argument(0)),
        (ChildCommand::new("/a").env(variable), NulPlace::Variable("NAME".into())),
    ];
    for (command, expected) in cases {
        match fails(command).await {
            SpawnError::NulByte { place } => assert_eq!(place, expected),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_program_that_is_being_written_is_tried_again() {
    let folder = TestProject::new();
    let program = folder.project.join("program");
    std::fs::copy(child(), &program).unwrap();
    let writer = std::fs::OpenOptions::new().append(true).open(&program).unwrap();
    let command = print_args(&program);
    let cancel = CancelToken::new();
    // The run is polled first, so its first attempt meets the open writer.
    let (finished, ()) = tokio::join!(run(&command, &cancel), async { drop(writer) });
    assert_eq!(finished.unwrap().end, ChildEnd::Exited(0));
}

#[tokio::test]
async fn a_program_that_stays_open_for_writing_is_busy() {
    let folder = TestProject::new();
    let program = folder.project.join("program");
    std::fs::copy(child(), &program).unwrap();
    let _writer = std::fs::OpenOptions::new().append(true).open(&program).unwrap();
    let error = fails(ChildCommand::new(&program)).await;
    assert!(matches!(error, SpawnError::Busy { .. }), "{error:?}");
    // The deadline also limits the repeated attempts.
    let hurried = ChildCommand::new(&program).timeout(Duration::from_millis(2));
    let finished = run(&hurried, &CancelToken::new()).await.unwrap();
    assert_eq!((finished.end, finished.pid), (ChildEnd::NotStarted, None));
}

#[tokio::test]
async fn two_hundred_runs_at_once_keep_their_answers_apart() {
    let runs: Vec<_> = (0..200)
        .map(|number| {
            tokio::spawn(async move {
                let text = format!("answer {number}");
                let finished =
                    Case::new(&["echo-stdin"]).with(|command| command.stdin(text.clone().into_bytes())).run().await;
                assert_eq!(finished.end, ChildEnd::Exited(0));
                assert_eq!(stdout(&finished), text);
            })
        })
        .collect();
    for run in runs {
        run.await.unwrap();
    }
}

#[test]
fn the_future_of_a_run_can_move_between_threads() {
    fn is_send<T: Send>(_: &T) {}
    let (command, cancel) = (ChildCommand::new("x"), CancelToken::new());
    is_send(&run(&command, &cancel));
}
