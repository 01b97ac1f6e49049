//! A signal that ends what a command does on other threads, with the hooks that run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use hookrail::CancelToken;
use hookrail_app::signals::Interrupts;

/// The signal that ends a command.
pub(crate) struct StopSignal {
    pub(crate) token: CancelToken,
    number: Arc<AtomicU8>,
}

impl StopSignal {
    /// Waits for a signal on a thread of its own.
    pub(crate) fn listen() -> Self {
        let (token, number) = (CancelToken::new(), Arc::new(AtomicU8::new(0)));
        let (stop, received) = (token.clone(), Arc::clone(&number));
        // Without the thread a signal ends the command at once, as the system does it.
        let _ = std::thread::Builder::new().name("hookrail-signals".to_owned()).spawn(move || {
            let Ok(runtime) = hookrail_app::runtime::runtime() else { return };
            runtime.block_on(async {
                let Ok(mut interrupts) = Interrupts::listen() else { return };
                received.store(interrupts.next().await.number(), Ordering::Relaxed);
                stop.cancel();
            });
        });
        Self { token, number }
    }

    /// Returns the number of the signal, if one came.
    pub(crate) fn number(&self) -> Option<u8> {
        Some(self.number.load(Ordering::Relaxed)).filter(|number| *number != 0)
    }
}
