//! Whose turn it is: so many requests run at once, and sessions take turns.
//!
//! A session that asks for much waits behind itself; one that asks for little gets its turn next. The schedule knows
//! nothing of what is run.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use hookrail::lock;
use tokio::sync::oneshot;

/// Hands out places, session by session.
#[derive(Debug)]
pub(crate) struct Schedule {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    /// Who waits, by session. No queue is empty.
    waiting: HashMap<Arc<str>, VecDeque<oneshot::Sender<Place>>>,
    /// The sessions that wait, in the order of their turns.
    turns: VecDeque<Arc<str>>,
}

/// A place among those that run. Dropping it gives it to the request that is next.
#[derive(Debug)]
pub(crate) struct Place(Option<Arc<Schedule>>);

impl Schedule {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit: limit.max(1), state: Mutex::default() })
    }

    /// Waits for a place. Dropping the future gives up the turn.
    pub(crate) async fn place(self: &Arc<Self>, session: &Arc<str>) -> Place {
        let turn = {
            let mut state = self.lock();
            if state.running < self.limit && state.turns.is_empty() {
                state.running += 1;
                return Place(Some(Arc::clone(self)));
            }
            let (sender, turn) = oneshot::channel();
            let queue = state.waiting.entry(Arc::clone(session)).or_default();
            queue.push_back(sender);
            if queue.len() == 1 {
                state.turns.push_back(Arc::clone(session));
            }
            turn
        };
        let mut waiting = Waiting { schedule: self, session, turn, over: false };
        let place = (&mut waiting.turn).await;
        waiting.over = true;
        match place {
            Ok(place) => place,
            // Senders are dropped only after their receiver is, so this is never reached; it must not block either.
            Err(_) => Place(None),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Gives a place that became free to the request that is next.
    fn pass_on(self: &Arc<Self>) {
        let mut state = self.lock();
        while let Some(session) = state.turns.pop_front() {
            let Some(queue) = state.waiting.get_mut(&session) else { continue };
            let next = queue.pop_front();
            if queue.is_empty() {
                state.waiting.remove(&session);
            } else {
                state.turns.push_back(session);
            }
            let Some(next) = next else { continue };
            match next.send(Place(Some(Arc::clone(self)))) {
                Ok(()) => return,
                // The request that waited is gone. The place must not pass itself on while the lock is held.
                Err(mut place) => place.0 = None,
            }
        }
        state.running = state.running.saturating_sub(1);
    }

    /// How many run and how many wait.
    #[cfg(test)]
    fn counts(&self) -> (usize, usize) {
        let state = self.lock();
        (state.running, state.waiting.values().map(VecDeque::len).sum())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(schedule) = self.0.take() {
            schedule.pass_on();
        }
    }
}

/// A request that waits. One that gives up leaves the queue at once, so that the queue holds none that are gone.
struct Waiting<'a> {
    schedule: &'a Schedule,
    session: &'a Arc<str>,
    turn: oneshot::Receiver<Place>,
    over: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        self.turn.close();
        // A place that arrived in the meantime is passed on by its own drop, outside of the lock.
        let _arrived = self.turn.try_recv();
        let mut state = self.schedule.lock();
        if let Some(queue) = state.waiting.get_mut(self.session) {
            queue.retain(|sender| !sender.is_closed());
            if queue.is_empty() {
                state.waiting.remove(self.session);
                state.turns.retain(|session| session != self.session);
            }
        }
        drop(state);
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn sessions_take_turns() {
        let schedule = Schedule::new(1);
        let (loud, quiet): (Arc<str>, Arc<str>) = ("loud".into(), "quiet".into());
        let mut first = pin!(schedule.place(&loud));
        let Poll::Ready(first) = poll(first.as_mut()) else { panic!("there is a place") };
        let mut second = pin!(schedule.place(&loud));
        let mut third = pin!(schedule.place(&loud));
        let mut other = pin!(schedule.place(&quiet));
        assert!(poll(second.as_mut()).is_pending() && poll(third.as_mut()).is_pending());
        assert!(poll(other.as_mut()).is_pending());
        assert_eq!(schedule.counts(), (1, 3));
        drop(first);
        let Poll::Ready(second) = poll(second.as_mut()) else { panic!("its turn") };
        assert!(poll(third.as_mut()).is_pending() && poll(other.as_mut()).is_pending());
        drop(second);
        assert!(poll(third.as_mut()).is_pending(), "the quiet session comes first");
        let Poll::Ready(other) = poll(other.as_mut()) else { panic!("its turn") };
        drop(other);
        assert!(poll(third.as_mut()).is_ready());
    }

    #[test]
    fn those_who_give_up_leave_no_trace() {
        let schedule = Schedule::new(1);
        let session: Arc<str> = "s".into();
        let mut first = Box::pin(schedule.place(&session));
        let Poll::Ready(place) = poll(first.as_mut()) else { panic!("there is a place") };
        for _ in 0..100 {
            let mut waiting = Box::pin(schedule.place(&session));
            assert!(poll(waiting.as_mut()).is_pending());
        }
        assert_eq!(schedule.counts(), (1, 0));
        let mut last = Box::pin(schedule.place(&session));
        assert!(poll(last.as_mut()).is_pending());
        drop(place);
        // The place was given to a request that never looks; it is not lost.
        drop(last);
        assert_eq!(schedule.counts(), (0, 0));
    }
}
