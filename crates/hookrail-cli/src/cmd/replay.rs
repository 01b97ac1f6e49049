//! `hookrail replay`: fires recorded events against a configuration and reports what would be decided otherwise.

use std::time::{Duration, Instant};

use hookrail_app::failure::Result;
use hookrail_app::project::{Project, ProjectChoice};
use hookrail_app::replay::{Isolation, ReplayProgress, ReplayTarget, ReplayVerdict};
use hookrail_journal::{Filter, RecordKind};

use super::journal::{failure, filter, open};
use super::log::report_unreadable;
use crate::args::{ReplayArgs, SelectArgs};
use crate::cmd::exit::Exit;
use crate::output::progress::CounterLine;
use crate::signals::StopSignal;
use crate::{output, render};

/// The time between two updates of the progress line.
const UPDATE_INTERVAL: Duration = Duration::from_millis(250);

pub(crate) fn run(args: &ReplayArgs) -> Result<Exit> {
    let project = Project::open(&args.project)?;
    let choice = ProjectChoice::from(&args.project);
    let choice = ProjectChoice { project: args.against.as_deref().or(choice.project), ..choice };
    let isolation = if args.run_commands { Isolation::None } else { Isolation::Sandbox };
    let target = ReplayTarget::open(choice, isolation)?;
    let root = target.root().to_owned();
    let ReplayArgs { since, session, event, .. } = args;
    let select =
        SelectArgs { since: since.clone(), session: session.clone(), event: event.clone(), ..SelectArgs::default() };
    let filter = Filter { kind: Some(RecordKind::Fired), ..filter(&select)? };
    let records = open()?.read(filter).map_err(|error| failure(&error))?;
    // The events of another project are about another configuration.
    let own = project.root().to_string_lossy().into_owned();
    let records = records.filter(move |found| found.as_ref().map_or(true, |record| record.project == own));
    let stop = StopSignal::listen();
    let (mut progress, mut last) = (CounterLine::new(), Instant::now());
    let summary = target.replay(records, &stop.token, |told| match told {
        ReplayProgress::Unreadable(unreadable) => report_unreadable(unreadable),
        ReplayProgress::Replayed(summary) if last.elapsed() >= UPDATE_INTERVAL => {
            last = Instant::now();
            progress.draw(&format!("replayed {}, {} differ", summary.replayed(), summary.differing()));
        }
        ReplayProgress::Replayed(_) => {}
    });
    progress.erase();
    let summary = summary?;
    if let Some(number) = stop.number() {
        return Ok(Exit::Signalled(number));
    }
    if args.json {
        output::json(&summary.document())?;
    } else {
        output::text(&render::replay::summary(&summary, &root))?;
    }
    Ok(match summary.verdict() {
        ReplayVerdict::Differs => Exit::Blocked,
        // "Nothing differs" would be a guess: a guard that was not asked may have stopped every one of them.
        ReplayVerdict::NotAllAsked | ReplayVerdict::NothingCompared => Exit::Failed,
        ReplayVerdict::Same => Exit::Fine,
    })
}
