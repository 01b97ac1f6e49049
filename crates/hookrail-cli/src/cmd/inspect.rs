//! `hookrail inspect`: a page in the browser that shows what hooks decided, or one file with the same page.

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use hookrail::document::{explain_document, list_document, outcome_document};
use hookrail::{Builder, EventKind, FireOptions};
use hookrail_app::event_draft::{EventDraft, EventFields, make_event, parse_payload};
use hookrail_app::failure::{Failure, Result};
use hookrail_app::journal::RecordDefault;
use hookrail_app::project::Project;
use hookrail_app::replay::agent_of;
use hookrail_app::text::one_line;
use hookrail_app::trust::{grants, load_with_missing, status_document};
use hookrail_inspect::{DEFAULT_LAST, Inspector, JournalLines, PageTitle, TesterMode, Trial, Workbench, export};
use hookrail_journal::Record;
use hookrail_spawn::{Durability, Replace};

use super::journal::{failure, filter, open};
use crate::args::{InspectArgs, ProjectArgs, SelectArgs};
use crate::cmd::exit::Exit;
use crate::{logging, output};
use hookrail_app::signals::Interrupts;

/// How many records an exported file holds by default: about 10 MB, which a mail takes.
const EXPORTED_LAST: usize = 5_000;

pub(crate) fn run(args: &InspectArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let select = SelectArgs { since: args.since.clone(), ..SelectArgs::default() };
    let records = open()?.read(filter(&select)?).map_err(|error| failure(&error))?;
    let lines: JournalLines =
        Box::new(records.map(|record| record.map(|record| record.line).map_err(|error| error.to_string())));
    let title = PageTitle {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        project: project.root().to_string_lossy().into_owned(),
        events: EventKind::all().map(|event| event.name().to_owned()).collect(),
    };
    match &args.export {
        Some(file) => {
            let last = args.last.unwrap_or(EXPORTED_LAST);
            write_file(file, &export(lines, last, &title))?;
            output::text(&format!("written: {}\n", one_line(&file.display().to_string())))?;
            Ok(Exit::Fine)
        }
        None => serve(args, lines, title),
    }
}

/// Writes a file that only this user can read: it holds what the journal holds.
fn write_file(file: &Path, text: &str) -> Result<()> {
    // A device or a pipe has no permissions to change, and takes what is written.
    let is_stream = std::fs::metadata(file).is_ok_and(|data| !data.is_file() && !data.is_dir());
    let written = if is_stream {
        OpenOptions::new().write(true).open(file).and_then(|mut opened| opened.write_all(text.as_bytes()))
    } else {
        // Others may be allowed to read the old file.
        hookrail_spawn::replace_file(file, text.as_bytes(), &Replace { durable: Durability::None, ..Replace::PRIVATE })
    };
    written.map_err(|error| {
        Failure::new(format!("`{}` cannot be written: {error}", file.display()))
            .hint("give a file in a folder that exists and that you can write to")
    })
}

fn serve(args: &InspectArgs, lines: JournalLines, title: PageTitle) -> Result<Exit> {
    let runtime = hookrail_app::runtime::runtime()?;
    let exit = runtime.block_on(async {
        let inspector = Inspector::bind(args.port).await.map_err(|error| cannot_bind(args.port, &error))?;
        let mode = if args.allow_run { TesterMode::Fire } else { TesterMode::Explain };
        let inspector = inspector.title(title).tester(mode).last(args.last.unwrap_or(DEFAULT_LAST));
        let mut interrupts = Interrupts::listen()
            .map_err(|error| Failure::new(format!("signals cannot be handled: {error}")).hint("end other programs"))?;
        let url = inspector.url();
        output::text(&format!("{url}\n"))?;
        let bookmark = (io::stdout().is_terminal() && !args.no_open).then(|| open_browser(&url)).flatten();
        let workbench = Arc::new(ProjectWorkbench { project: args.project.clone() });
        let exit = tokio::select! {
            served = inspector.serve(lines, workbench) => served.map(|()| Exit::Fine).map_err(|error| {
                Failure::new(format!("the page cannot be served: {error}")).hint("the system may be out of memory, disk or files")
            }),
            signal = interrupts.next() => Ok(match signal.number() {
                // Ctrl-C is how the page is closed.
                2 => Exit::Fine,
                number => Exit::Signalled(number),
            }),
        };
        drop(bookmark);
        exit
    });
    // A trial that still runs hooks is not waited for.
    runtime.shutdown_background();
    exit
}

fn cannot_bind(port: u16, error: &io::Error) -> Failure {
    Failure::new(format!("port {port} of 127.0.0.1 cannot be used: {error}"))
        .hint("choose another one with `--port`, or omit it")
}

/// Opens the user's browser. The command line of a program can be read by other users, so the browser gets a file that only
/// this user can read and that leads to the address; it is removed with what is returned.
fn open_browser(url: &str) -> Option<tempfile::TempPath> {
    let opened = write_bookmark(url).and_then(|file| {
        let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let mut command = Command::new(program);
        command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(|_| file)
    });
    match opened {
        Ok(file) => Some(file),
        Err(_) => {
            logging::write_stderr("note: no browser could be started; open the address above\n".to_owned());
            None
        }
    }
}

fn write_bookmark(url: &str) -> io::Result<tempfile::TempPath> {
    let mut file = tempfile::Builder::new().prefix("hookrail-inspect-").suffix(".html").tempfile()?;
    write!(file, "<!DOCTYPE html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={url}\">")?;
    Ok(file.into_temp_path())
}

/// The project as it is configured now: every request loads it anew.
struct ProjectWorkbench {
    project: ProjectArgs,
}

/// An event that is tried, and the record that it was taken from.
struct TriedEvent {
    requested: EventDraft,
    record: Option<Record<'static>>,
}

impl TriedEvent {
    /// The event that a trial describes. What a recorded event of this project has beside its fields, it has too: hooks may
    /// look at the session, the directory and the time.
    fn of(trial: &Trial, project: &Project) -> Result<Self> {
        let EventDraft { mut event, agent, fields } = described(trial, project)?;
        let record = trial.record.as_deref().map(Record::parse).transpose().map_err(|error| {
            Failure::new(format!("the record cannot be read: {error}")).hint("choose another event")
        })?;
        if let Some(record) = record.as_ref().filter(|record| record.project == project.root().to_string_lossy()) {
            let Record { session, transcript, at, cwd, .. } = record;
            let text = |member: &Option<Cow<'static, str>>| member.as_deref().unwrap_or_default().to_owned();
            event = event.session(text(session)).transcript(text(transcript)).at_time(at).in_directory(text(cwd));
        }
        Ok(Self { requested: EventDraft { event, agent, fields }, record })
    }

    /// Adds the names of tools by which the event was fired.
    fn with_tools(&self, builder: Builder) -> Builder {
        match self.record.as_ref().and_then(agent_of) {
            Some(agent) => builder.host_tools(agent.tools()),
            None => builder,
        }
    }
}

/// The event with the name and the fields of a trial.
fn described(trial: &Trial, project: &Project) -> Result<EventDraft> {
    let fields = EventFields {
        name: trial.event.clone(),
        payload: Some(parse_payload("payload", &trial.payload)?),
        session_id: Some("inspect".to_owned()),
        ..EventFields::default()
    };
    make_event(&fields, project.root())
}

impl ProjectWorkbench {
    fn list(&self) -> Result<String> {
        let project = Project::open(&self.project)?;
        let list = list_document(&project.builder(&self.project)?.build().snapshot());
        let (_, hooks) = load_with_missing(&self.project)?;
        let trust = status_document(project.root(), grants(&project)?.project, &hooks);
        Ok(format!(r#"{{"list":{},"trust":{}}}"#, list.text(), trust.text()))
    }

    fn plan(&self, trial: &Trial) -> Result<String> {
        let project = Project::open(&self.project)?;
        let tried = TriedEvent::of(trial, &project)?;
        let system = tried.with_tools(project.builder(&self.project)?).build();
        let EventDraft { event, fields, .. } = tried.requested;
        let mut plan = hookrail::plan::Plan::clone(&system.explain(&event));
        let findings = fields.into_findings(plan.skipped.iter().map(|skipped| skipped.why));
        plan.diagnostics.extend(findings);
        Ok(explain_document(&plan).text().to_owned())
    }

    fn outcome(&self, trial: &Trial) -> Result<String> {
        let project = Project::open(&self.project)?;
        let tried = TriedEvent::of(trial, &project)?;
        let (builder, _) = project.recorded_builder(&self.project, RecordDefault::Off, "hookrail inspect")?;
        let system = tried.with_tools(builder).build();
        let EventDraft { event, fields, .. } = tried.requested;
        let runtime = hookrail_app::runtime::runtime()?;
        let outcome = runtime.block_on(async {
            let mut outcome = system.fire_with(event, FireOptions::new().wait_for_all()).await;
            let findings = fields.into_findings(outcome.skipped.iter().map(|skipped| skipped.why));
            outcome.diagnostics.extend(findings);
            system.shutdown().await;
            outcome
        });
        Ok(outcome_document(&outcome).text().to_owned())
    }
}

impl Workbench for ProjectWorkbench {
    fn hooks(&self) -> std::result::Result<String, String> {
        self.list().map_err(|failure| failure.message().to_owned())
    }

    fn explain(&self, trial: &Trial) -> std::result::Result<String, String> {
        self.plan(trial).map_err(|failure| failure.message().to_owned())
    }

    fn fire(&self, trial: &Trial) -> std::result::Result<String, String> {
        self.outcome(trial).map_err(|failure| failure.message().to_owned())
    }
}
