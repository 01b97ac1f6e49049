//! `hookrail install` and `hookrail uninstall`: make an agent call the bridge, and take that back. The change is shown first.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use hookrail_app::failure::Result;
use hookrail_app::foreign_hooks;
use hookrail_app::install::{AgentTrust, InstallRequest, Installation, Position, Removal};
use hookrail_app::text::counted;
use hookrail_bridge::install::BridgeOption;

use crate::args::{InstallArgs, PassedOptions, UninstallArgs};
use crate::cmd::consent::{no_terminal, require_person};
use crate::cmd::exit::Exit;
use crate::output;
use crate::render::foreign_hooks::closing_lines as render_foreign;
use crate::render::install as render;
use crate::render::style::{GOOD, paint};
use render::Question;

pub(crate) fn install(args: &InstallArgs) -> Result<Exit> {
    let installation = Installation::plan(&request(args))?;
    let title = args.agent.title();
    let advice = render::advice(args.agent, &installation.advice);
    if installation.changes.is_empty() {
        output::text(&format!("{title} already calls this hookrail; nothing to change\n{advice}"))?;
        return Ok(Exit::Fine);
    }
    output::text(&render::summary(&installation.summary, &installation.changes, question(args.yes)))?;
    if args.dry_run {
        return Ok(Exit::Fine);
    }
    if !confirmed(question(args.yes))? {
        output::text("nothing was changed\n")?;
        return Ok(Exit::Failed);
    }
    let position = installation.write()?;
    let calls = paint(GOOD, format!("{title} now calls hookrail"));
    output::text(&format!("{calls}: {} written\n", counted(installation.changes.len(), "file")))?;
    output::text(&moved_hooks(position))?;
    output::text(&advice)?;
    output::text(&render_foreign(&foreign_hooks::diagnostics(&installation.project)))?;
    Ok(Exit::Fine)
}

pub(crate) fn uninstall(args: &UninstallArgs) -> Result<Exit> {
    let removal = Removal::plan(args.agent, args.scope.map(Into::into))?;
    let title = args.agent.title();
    if !removal.is_installed() {
        output::text(&format!("hookrail is not installed for {title}\n"))?;
        return Ok(Exit::Fine);
    }
    if !removal.changes.is_empty() {
        output::text(&render::summary(&removal.summary, &removal.changes, question(args.yes)))?;
    }
    let left = render::remaining_calls(args.agent, &removal.left);
    if args.dry_run {
        output::text(&left)?;
        return Ok(Exit::Fine);
    }
    if !removal.changes.is_empty() {
        require_person()?;
    }
    if !removal.changes.is_empty() && !confirmed(question(args.yes))? {
        output::text("nothing was changed\n")?;
        return Ok(Exit::Failed);
    }
    output::text(&moved_hooks(removal.write()?))?;
    if !left.is_empty() {
        output::text(&left)?;
        return Ok(Exit::Failed);
    }
    output::text(&format!("{}\n", paint(GOOD, format!("{title} no longer calls hookrail"))))?;
    Ok(Exit::Fine)
}

fn request(args: &InstallArgs) -> InstallRequest {
    InstallRequest {
        agent: args.agent,
        scope: args.scope.into(),
        timeout_seconds: args.timeout,
        events: args.events.clone(),
        bridge: passed_options(&args.bridge),
        agent_trust: if args.trust { AgentTrust::Recorded } else { AgentTrust::LeftToAgent },
        project: args.project.clone(),
    }
}

fn passed_options(args: &PassedOptions) -> Vec<BridgeOption> {
    let options = [
        (args.allow_skips_prompt, BridgeOption::AllowSkipsPrompt),
        (args.attended, BridgeOption::Attended),
        (args.strict_trust, BridgeOption::StrictTrust),
        (args.noisy, BridgeOption::Noisy),
    ];
    options.into_iter().filter(|(is_given, _)| *is_given).map(|(_, option)| option).collect()
}

fn moved_hooks(position: Position) -> String {
    match position {
        Position::Kept => String::new(),
        Position::Moved { consequence } => format!("{consequence}\n"),
    }
}

fn question(yes: bool) -> Question {
    if yes { Question::Confirmed } else { Question::Asked }
}

fn confirmed(question: Question) -> Result<bool> {
    if question == Question::Confirmed {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Err(no_terminal("there is no terminal to ask on", "look at `--dry-run`, then give `--yes`"));
    }
    let mut stderr = anstream::stderr().lock();
    let _ = write!(stderr, "write this? [y/N] ");
    let _ = stderr.flush();
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    Ok(read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes"))
}
