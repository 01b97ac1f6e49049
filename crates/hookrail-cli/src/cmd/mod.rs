//! The commands, one file each. A command reads its arguments, calls the engine, and passes the result to `render` or
//! to the engine's JSON documents.

mod accesses;
mod agent;
pub(crate) mod bridge;
#[cfg(feature = "fleet")]
mod bundle;
mod check;
pub(crate) mod completions;
pub(crate) mod consent;
mod demo;
mod dev;
mod dialects;
mod docs;
mod doctor;
pub(crate) mod exit;
pub(crate) mod explain;
mod fire;
mod firing;
#[cfg(feature = "fleet")]
mod fleet;
mod import;
#[cfg(feature = "inspect")]
mod inspect;
mod install;
mod journal;
mod list;
mod log;
mod man;
mod new;
mod plugin;
pub(crate) mod post_event;
mod record;
mod reference;
mod reload;
mod replay;
mod rules;
mod schema;
pub(crate) mod serve;
mod stats;
mod test;
mod trust;
mod trust_review;
mod try_hook;
mod types;

use hookrail_app::failure::Result;

use crate::args::Command;
use crate::cmd::exit::Exit;

/// Runs a command.
pub(crate) fn run(command: Command) -> Result<Exit> {
    match command {
        Command::Demo(args) => demo::run(&args),
        Command::Fire(args) => fire::run(&args),
        Command::Dev(args) => dev::run(&args),
        Command::Try(args) => try_hook::run(&args),
        Command::Agent(args) => agent::run(&args),
        Command::List(args) => list::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Accesses(args) => accesses::run(&args),
        Command::Trust(args) => trust::run(&args),
        Command::Plugin(args) => plugin::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Reload(args) => reload::run(&args),
        Command::Bridge(args) => bridge::run(&args),
        Command::Install(args) => install::install(&args),
        Command::Uninstall(args) => install::uninstall(&args),
        Command::Enable(args) => dialects::enable(&args),
        Command::Disable(args) => dialects::disable(&args),
        Command::Import(args) => import::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Log(args) => log::run(&args),
        Command::Stats(args) => stats::run(&args),
        #[cfg(feature = "inspect")]
        Command::Inspect(args) => inspect::run(&args),
        Command::Journal(args) => journal::run(&args),
        Command::Replay(args) => replay::run(&args),
        #[cfg(feature = "fleet")]
        Command::Bundle(args) => bundle::run(&args),
        #[cfg(feature = "fleet")]
        Command::Fleet(args) => fleet::run(&args),
        Command::New(args) => new::run(&args),
        Command::Init(args) => new::init(&args),
        Command::Add(args) => new::add(&args),
        Command::Rules(args) => rules::run(&args),
        Command::Types(args) => types::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Record(args) => record::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Reference(args) => reference::run(&args),
        Command::Docs(args) => docs::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}
