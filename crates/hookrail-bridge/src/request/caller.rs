//! Finds out which agent sent a payload.

use crate::agents::Agent;
use crate::spec::{Evidence, PayloadView};

/// The agent that calls. The command line names one; what the payload and the environment show of another one overrules it,
/// because agents read each other's settings.
///
/// An event that the named agent does not have belongs to the agent that has it. To take it for an event of a newer version
/// would let the call of another agent pass unguarded.
pub(super) fn calling_agent(named: Agent, payload: &PayloadView<'_>) -> Agent {
    let evidence = |agent: Agent| (agent.spec().evidence)(payload);
    let first = |wanted: Evidence| Agent::ALL.into_iter().find(|agent| evidence(*agent) == wanted);
    match evidence(named) {
        Evidence::Certain => named,
        Evidence::Possible => first(Evidence::Certain).unwrap_or(named),
        Evidence::No => first(Evidence::Certain).or_else(|| first(Evidence::Possible)).unwrap_or(named),
    }
}
