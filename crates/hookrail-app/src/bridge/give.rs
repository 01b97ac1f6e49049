//! The fifth step: one thread gives one answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use hookrail_bridge::{AgentEvent, AgentRequest, Answer, AnswerStatus, Lateness};

use super::deadline::Deadline;
use super::{BridgeIo, Delivery};

/// The stack of the thread that waits for the deadline and writes one answer.
const DEADLINE_STACK: usize = 256 << 10;

/// Which thread answers. The one that does not get the turn must not leave anything behind that belongs to its answer.
pub(super) struct AnswerTurn {
    event: AgentEvent,
    io: &'static dyn BridgeIo,
    is_taken: AtomicBool,
    /// The status of the answer that was given.
    status: OnceLock<AnswerStatus>,
}

/// What came of taking the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// This thread answers.
    Ours,
    /// Another thread answers.
    Lost,
}

impl AnswerTurn {
    /// Lets another thread answer at the deadline.
    ///
    /// To ask the hooks may mean to wait for a lock, a slow disk or a module that is loaded, and the agent would let the operation
    /// happen meanwhile. So that thread does nothing but wait.
    pub(super) fn begin(
        request: &AgentRequest,
        deadline: Deadline,
        io: &'static dyn BridgeIo,
    ) -> std::io::Result<Arc<Self>> {
        let (agent, event) = (request.agent, request.event);
        let turn = Arc::new(Self::of_event(event, io));
        let watched = Arc::clone(&turn);
        on_deadline_thread(move || {
            std::thread::sleep(deadline.left());
            if watched.take() == Turn::Lost {
                // The answer of the other thread is a moment away.
                std::thread::sleep(deadline.reserve() / 4);
            }
            let status = watched.give(&Answer::late(agent, event, Lateness::Deadline(deadline.limit())));
            // Meanwhile hooks that still run are ended, and what can be recorded is recorded.
            std::thread::sleep(deadline.left_for_all());
            io.end_process(status);
        })?;
        Ok(turn)
    }

    fn of_event(event: AgentEvent, io: &'static dyn BridgeIo) -> Self {
        Self { event, io, is_taken: AtomicBool::default(), status: OnceLock::new() }
    }

    /// Takes the turn, if it is free.
    pub(super) fn take(&self) -> Turn {
        if self.is_taken.swap(true, Ordering::AcqRel) { Turn::Lost } else { Turn::Ours }
    }

    /// Gives an answer to the agent, unless it has one. Returns the status of the answer that it has.
    pub(super) fn give(&self, answer: &Answer) -> AnswerStatus {
        *self.status.get_or_init(|| give(answer, Some(self.event), self.io))
    }
}

/// Gives an answer to the agent. If its document is lost, status 2 takes its place where that denies. At the end of an answer it
/// would keep the agent going.
pub(super) fn give(answer: &Answer, event: Option<AgentEvent>, io: &dyn BridgeIo) -> AnswerStatus {
    match io.write_answer(answer) {
        Delivery::Written => answer.status,
        Delivery::Lost if event.is_none_or(|event| event.guards_an_operation()) => AnswerStatus::Denied,
        Delivery::Lost => AnswerStatus::Answered,
    }
}

/// Starts the thread that waits for the deadline.
pub(super) fn on_deadline_thread(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let thread = std::thread::Builder::new().name("hookrail-deadline".to_owned()).stack_size(DEADLINE_STACK);
    thread.spawn(work).map(drop)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use hookrail::EventKind;
    use hookrail_bridge::Agent;

    use super::*;

    /// Counts answers, and reads none of them if it is closed.
    struct CountingIo {
        delivery: Delivery,
        answers: AtomicUsize,
    }

    impl BridgeIo for CountingIo {
        fn read_payload(&self, _: Deadline) -> std::io::Result<Vec<u8>> {
            Ok(Vec::new())
        }

        fn write_answer(&self, _: &Answer) -> Delivery {
            self.answers.fetch_add(1, Ordering::Relaxed);
            self.delivery
        }

        fn warn(&self, _: &str) {}

        fn end_process(&self, _: AnswerStatus) {}
    }

    fn turn(kind: EventKind, delivery: Delivery) -> (AnswerTurn, &'static CountingIo) {
        let agent = Agent::from_name("claude").unwrap();
        let event = agent.find_event(agent.event_name(kind).unwrap()).unwrap();
        let io: &'static CountingIo = Box::leak(Box::new(CountingIo { delivery, answers: AtomicUsize::new(0) }));
        (AnswerTurn::of_event(event, io), io)
    }

    #[test]
    fn the_first_of_two_answers_is_given_and_its_status_holds_for_both() {
        let (turn, io) = turn(EventKind::BeforeTool, Delivery::Written);
        assert_eq!((turn.take(), turn.take()), (Turn::Ours, Turn::Lost));
        let denial = Answer::denial(Some(turn.event), "no");
        assert_eq!(turn.give(&denial), AnswerStatus::Denied);
        assert_eq!(turn.give(&Answer::silent()), AnswerStatus::Denied);
        assert_eq!(io.answers.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_lost_document_denies_where_it_guards_an_operation() {
        for (kind, delivery, expected) in [
            (EventKind::BeforeTool, Delivery::Lost, AnswerStatus::Denied),
            (EventKind::BeforeTool, Delivery::Written, AnswerStatus::Answered),
            (EventKind::AgentEnd, Delivery::Lost, AnswerStatus::Answered),
        ] {
            assert_eq!(turn(kind, delivery).0.give(&Answer::silent()), expected, "{kind} {delivery:?}");
        }
    }
}
