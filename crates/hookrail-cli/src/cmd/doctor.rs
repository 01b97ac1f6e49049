//! `hookrail doctor`: finds out whether an agent really calls hookrail, and what to do if it does not.

use hookrail_app::doctor::Doctor;
use hookrail_app::failure::Result;
use hookrail_bridge::Agent;
use hookrail_bridge::doctor::{CheckHealth, DoctorCheck};
use serde_json::{Value, json};

use crate::args::DoctorArgs;
use crate::cmd::exit::Exit;
use crate::output;
use crate::render::style::{BAD, CAREFUL, GOOD, HEADING, paint};

pub(crate) fn run(args: &DoctorArgs) -> Result<Exit> {
    let doctor = Doctor::open(args.project.as_deref())?;
    let agents = args.agent.map_or_else(|| doctor.agents_of_interest(), |agent| vec![agent]);
    let mut worst = CheckHealth::Fine;
    let mut document = Vec::new();
    for agent in &agents {
        let checks = doctor.examine(*agent)?;
        worst = checks.iter().map(|check| check.health).fold(worst, Ord::max);
        if args.json {
            document.extend(checks.iter().map(|check| as_json(agent.name(), check)));
        } else {
            output::text(&as_text(*agent, &checks))?;
        }
    }
    let foreign = doctor.foreign_hooks(args.agent);
    if args.json {
        document.extend(foreign.iter().map(|found| {
            let check = DoctorCheck::fine(found.diagnostic.code.name(), &found.diagnostic.message);
            as_json(found.agent, &check)
        }));
        output::json(&hookrail::Json::from(json!({ "checks": document })))?;
    } else {
        let none = "no agent that hookrail knows is installed; name one: `hookrail doctor claude`\n";
        let none = if agents.is_empty() { none } else { "" };
        let foreign: Vec<_> = foreign.into_iter().map(|found| found.diagnostic).collect();
        output::text(&format!("{none}{}", crate::render::foreign_hooks::lines(&foreign)))?;
    }
    Ok(if worst == CheckHealth::Error { Exit::Failed } else { Exit::Fine })
}

fn as_text(agent: Agent, checks: &[DoctorCheck]) -> String {
    let mut text = format!("{}\n", paint(HEADING, agent.title()));
    for check in checks {
        let mark = match check.health {
            CheckHealth::Fine => paint(GOOD, "ok     "),
            CheckHealth::Warning => paint(CAREFUL, "warning"),
            CheckHealth::Error => paint(BAD, "error  "),
        };
        text.push_str(&format!("  {mark}  {}\n", check.text));
        if let Some(fix) = &check.fix {
            text.push_str(&format!("           {fix}\n"));
        }
    }
    text
}

fn as_json(agent: &str, check: &DoctorCheck) -> Value {
    let status = match check.health {
        CheckHealth::Fine => "ok",
        CheckHealth::Warning => "warning",
        CheckHealth::Error => "error",
    };
    json!({ "agent": agent, "name": check.name, "status": status, "message": check.text, "fix": check.fix })
}
