//! The inspector of hookrail: a page in the browser that shows what hooks decided, live and in the past.
//!
//! The records come from the caller as JSON lines of the journal's form, so the page shows events of other processes too.
//! [`Inspector::serve`] serves the page on a loopback address; [`export()`] writes one file that needs no server. This crate
//! does not know where records are kept, how hooks run, or what a terminal is.
//!
//! # Who may read
//!
//! * The server answers on `127.0.0.1` only, and only requests whose `Host` is exactly that address and port, so that a name
//!   which is made to resolve to this machine reads nothing.
//! * The address that the caller shows holds a token in its fragment, which browsers send to no server. The page exchanges it
//!   for a cookie that scripts cannot read. Browsers send a cookie to every port of a machine, so the cookie is bound to a
//!   path that no other server knows, and its name holds the port.
//! * To a browser another port of this machine is the same site. `Origin` and `Sec-Fetch-Site` are therefore checked.
//! * The page cannot be framed, loads nothing from elsewhere, and cannot turn text into markup (Trusted Types).
//! * Nothing can be changed through the page. Events are fired only with [`TesterMode::Fire`].

#![forbid(unsafe_code)]

mod access;
mod assets;
mod export;
mod feed;
mod row;
mod server;
mod spool;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;

use tokio::net::TcpListener;

pub use export::export;

use access::Access;
use feed::Feed;
use server::Served;

/// The lines of a journal, in order. After the last one `next` returns nothing; called again later it returns what was
/// appended since. An error is a sentence about a line that cannot be read, and the iteration goes on behind it.
pub type JournalLines = Box<dyn Iterator<Item = Result<String, String>> + Send>;

/// What the tester of the page may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TesterMode {
    /// Show what would run.
    #[default]
    Explain,
    /// Also fire events, which runs hooks.
    Fire,
}

impl TesterMode {
    fn name(self) -> &'static str {
        match self {
            Self::Explain => "explain",
            Self::Fire => "fire",
        }
    }
}

/// An event that is tried out on the page.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The event's name, in any dialect.
    pub event: String,
    /// The event's fields: the text of a JSON object.
    pub payload: String,
    /// The line of the recorded event that it was taken from, if it was. What the page has no field for comes from there: the
    /// session, the directory, and who fired it.
    pub record: Option<String>,
}

/// What the page shows of the present configuration. Each method returns a JSON document, or a sentence about the failure,
/// and may take as long as it needs.
pub trait Workbench: Send + Sync + 'static {
    /// The configured hooks and their state of trust: `{"list": …, "trust": …}`, as `hookrail list` and `hookrail trust
    /// status` print them.
    ///
    /// # Errors
    /// If the configuration cannot be read.
    fn hooks(&self) -> Result<String, String>;

    /// What would run for an event, as `hookrail explain` prints it.
    ///
    /// # Errors
    /// If there is no such event, or the configuration cannot be read.
    fn explain(&self, trial: &Trial) -> Result<String, String>;

    /// Fires an event and returns its outcome, as `hookrail fire` prints it. It is called only with [`TesterMode::Fire`].
    ///
    /// # Errors
    /// If there is no such event, or it cannot be fired.
    fn fire(&self, trial: &Trial) -> Result<String, String>;
}

/// What the page says about the program and the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageTitle {
    /// The version of hookrail.
    pub version: String,
    /// The project's directory.
    pub project: String,
    /// The names of the events that the tester offers.
    pub events: Vec<String>,
}

/// How many of the last records are kept by default.
pub const DEFAULT_LAST: usize = 100_000;

/// An inspector that listens on a port of `127.0.0.1`.
#[derive(Debug)]
pub struct Inspector {
    listener: TcpListener,
    access: Arc<Access>,
    title: PageTitle,
    tester: TesterMode,
    last: usize,
}

impl Inspector {
    /// Listens on a port of the loopback interface. With port 0 the system chooses one.
    ///
    /// # Errors
    /// If the port is in use, or the system has no source of random numbers.
    pub async fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)).await?;
        let access = Arc::new(Access::new(listener.local_addr()?)?);
        Ok(Self { listener, access, title: PageTitle::default(), tester: TesterMode::default(), last: DEFAULT_LAST })
    }

    /// Sets what the page says about the program and the project.
    #[must_use]
    pub fn title(mut self, title: PageTitle) -> Self {
        self.title = title;
        self
    }

    /// Sets what the tester may do.
    #[must_use]
    pub fn tester(mut self, mode: TesterMode) -> Self {
        self.tester = mode;
        self
    }

    /// Keeps this number of records; older ones are left out.
    #[must_use]
    pub fn last(mut self, last: usize) -> Self {
        self.last = last.max(1);
        self
    }

    /// The address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.access.address()
    }

    /// The address of the page, with the token in its fragment. It is a secret: with it, the journal can be read.
    #[must_use]
    pub fn url(&self) -> String {
        self.access.url()
    }

    /// Serves the page until the server fails. Dropping the future ends the server and every connection.
    ///
    /// # Errors
    /// If connections cannot be accepted, or records cannot be kept in a temporary file.
    pub async fn serve(self, lines: JournalLines, workbench: Arc<dyn Workbench>) -> io::Result<()> {
        let feed = Arc::new(Feed::new(self.last));
        let _follower = feed::follow(lines, &feed)?;
        let served = Served { access: self.access, feed, workbench, tester: self.tester, title: self.title };
        server::serve(self.listener, served).await
    }
}
