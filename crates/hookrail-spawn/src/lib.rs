//! Starts, feeds, reads and ends child processes that may misbehave.
//!
//! One call, [`run`], starts a [`ChildCommand`], writes its stdin while it reads
//! stdout and stderr, and returns a [`ChildResult`] that says how it ended. A
//! child may refuse its input, flood its output, ignore signals, stop itself,
//! leave daemons that hold the pipes, or escape to another session: the result
//! is still returned by the deadline, and after a timeout, a cancellation or too
//! much output no process of the child is left once the [`Termination`] has
//! finished.
//!
//! This crate does not know what the children are for. It changes nothing
//! that belongs to the whole process: no signal handlers or dispositions, no
//! working directory, no environment, no `waitpid(-1)`. Only a program that
//! owns its process asks for more, with [`give_back_large_blocks`] and
//! [`close_to_other_processes`]. It is the only crate of the workspace with
//! `unsafe` code.
//!
//! ```no_run
//! # async fn example() -> Result<(), hookrail_spawn::SpawnError> {
//! use std::time::Duration;
//!
//! use hookrail_spawn::{CancelToken, ChildCommand, ChildEnd, run};
//!
//! let command = ChildCommand::new("/usr/bin/jq")
//!     .arg(".tool")
//!     .stdin(*br#"{"tool":"write_file"}"#)
//!     .timeout(Duration::from_secs(5))
//!     .marker("RUN_ID", "6e2f");
//! let finished = run(&command, &CancelToken::new()).await?;
//! match finished.end {
//!     ChildEnd::Exited(0) => println!("{}", finished.stdout.text_lossy()),
//!     end => eprintln!("no answer: {end:?}"),
//! }
//! if let Some(termination) = finished.termination {
//!     // In a program with more to do, this goes to a background task.
//!     termination.finish().await;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Runtime
//!
//! The futures of this crate must be driven inside a tokio runtime that has
//! its I/O and time drivers enabled, and a [`Termination`] inside the same one as
//! the run it came from. Dropping a future is always safe: see [`run`].
//!
//! # Platforms
//!
//! Linux with glibc 2.34 or newer has everything. The limits of musl, macOS
//! and Windows are listed at the head of `unix.rs` and `windows.rs`.

mod cancel;
mod capture;
mod command;
mod end;
mod environment;
mod error;
mod files;
#[cfg(unix)]
mod inherited;
mod late_output;
#[cfg_attr(windows, path = "ledger_windows.rs")]
mod ledger;
mod lock;
mod memory;
mod parked;
#[cfg(unix)]
mod processes;
mod run;
mod run_id;
mod runtime;
mod sandbox;
#[cfg(target_os = "linux")]
mod sender;
#[cfg(unix)]
mod start_queue;
mod straight_path;
mod termination;
mod undumpable;

#[cfg(unix)]
mod unix;
mod user_folders;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as sys;
#[cfg(windows)]
use windows as sys;

pub use cancel::CancelToken;
pub use capture::{CapturedStream, Truncation};
pub use command::{CaptureLimits, ChildCommand};
pub use end::{
    ChildEnd, ChildExit, HeldOutput, OrphanCleanup, OutputHolder, StartEnd, Survivors, TerminationForce,
    TerminationReport,
};
pub use environment::Environment;
pub use error::{NulPlace, SpawnError};
pub use files::{
    Durability, FileStamp, Replace, ReplacedLinks, ReplacedMode, UnplacedFile, Writers, append_to_regular,
    create_private_folder, is_ours_alone, open_regular, private_file_options, remove_abandoned_files, replace_file,
    replace_file_through, sync_folder, wait_for_lock, writers,
};
#[cfg(unix)]
pub use inherited::{inherited_descriptor, is_ignored};
pub use late_output::{AwaitedStreams, LateOutput, LateWait, OutputSoFar, StreamState};
pub use ledger::RunLedger;
#[doc(hidden)]
pub use lock::lock_mutex;
pub use memory::{give_back_free_memory, give_back_large_blocks, share_one_heap};
pub use parked::{Exchange, ExchangeReply, ParkedChild};
pub use run::{ChildResult, prepare_to_start, run};
pub use run_id::run_id;
pub use runtime::{require_threads, run_blocking, start_runtime};
pub use sandbox::{Network, Protection, Readable, Sandbox, SandboxError, SandboxRules};
#[cfg(target_os = "linux")]
pub use sender::{Sender, receive_with_sender};
pub use straight_path::{has_no_links, real_path};
pub use termination::Termination;
pub use undumpable::close_to_other_processes;
pub use user_folders::{USER_FOLDER_VARIABLES, UserFolders};

#[cfg(test)]
hookrail_testkit::start_with_default_signals!();
