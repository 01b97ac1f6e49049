//! Who may talk to the server: the checks of every request, and the exchange of the token for a cookie.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use subtle::ConstantTimeEq as _;

/// A random text of 64 characters. It is compared in constant time and never shown by `Debug`.
#[derive(Clone)]
struct Secret(String);

impl Secret {
    fn new() -> io::Result<Self> {
        let half = || {
            let mut bytes = [0_u8; 16];
            getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
            Ok::<_, io::Error>(u128::from_be_bytes(bytes))
        };
        Ok(Self(format!("{:032x}{:032x}", half()?, half()?)))
    }

    fn matches(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Decides about requests.
#[derive(Debug)]
pub(crate) struct Access {
    address: SocketAddr,
    /// `127.0.0.1:PORT`.
    authority: String,
    origin: String,
    cookie_name: String,
    /// Given to the user in the fragment of the address.
    token: Secret,
    /// The value of the cookie.
    session: Secret,
    /// A part of the path of everything that shows records. Browsers send a cookie to all ports of a machine: without it, a
    /// server on another port would get the cookie.
    folder: Secret,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It was meant for another name: 421.
    ForeignHost,
    /// A page of another origin made it: 403.
    ForeignOrigin,
    /// It comes without the cookie: 401.
    NoSession,
}

impl Refusal {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::ForeignHost => StatusCode::MISDIRECTED_REQUEST,
            Self::ForeignOrigin => StatusCode::FORBIDDEN,
            Self::NoSession => StatusCode::UNAUTHORIZED,
        }
    }

    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::ForeignHost => "this server answers to its own address only",
            Self::ForeignOrigin => "pages of other origins are refused",
            Self::NoSession => "open the address that `hookrail inspect` printed",
        }
    }
}

impl Access {
    pub(crate) fn new(address: SocketAddr) -> io::Result<Self> {
        Ok(Self {
            address,
            authority: address.to_string(),
            origin: format!("http://{address}"),
            cookie_name: format!("hookrail-{}", address.port()),
            token: Secret::new()?,
            session: Secret::new()?,
            folder: Secret::new()?,
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/#token={}", self.origin, self.token.0)
    }

    /// Checks where a request comes from. Programs that are no browsers send neither `Origin` nor `Sec-Fetch-Site`; they are
    /// let through to the check of the session.
    pub(crate) fn check_origin(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let is_own = |text: &str| text == self.authority;
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        let absolute = uri.authority().map(|authority| authority.as_str());
        if !host.is_some_and(is_own) || hosts.next().is_some() || !absolute.is_none_or(is_own) {
            return Err(Refusal::ForeignHost);
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let has_foreign_origin = origins.any(|origin| origin.as_bytes() != self.origin.as_bytes());
        // What changes something needs the header, so that a form of an old browser cannot do it.
        let lacks_origin = *method != Method::GET && !headers.contains_key(header::ORIGIN);
        if has_foreign_origin || lacks_origin || !Self::is_own_fetch(method, uri, headers) {
            return Err(Refusal::ForeignOrigin);
        }
        Ok(())
    }

    /// Whether the browser says that the page itself asks, or that the user opens the page. The page alone can be opened from
    /// anywhere, because it holds no records; inside of another page it cannot.
    fn is_own_fetch(method: &Method, uri: &Uri, headers: &HeaderMap) -> bool {
        let value = |name: &'static str| headers.get(HeaderName::from_static(name)).map(HeaderValue::as_bytes);
        match value("sec-fetch-site") {
            None | Some(b"same-origin") => true,
            Some(_) => {
                *method == Method::GET
                    && uri.path() == "/"
                    && value("sec-fetch-mode") == Some(b"navigate")
                    && value("sec-fetch-dest") == Some(b"document")
            }
        }
    }

    /// Checks that a request for records has the session's path and cookie.
    pub(crate) fn check_session(&self, folder: &str, headers: &HeaderMap) -> Result<(), Refusal> {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
        let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let has_cookie = pairs.any(|(name, value)| name == self.cookie_name && self.session.matches(value));
        if has_cookie && self.folder.matches(folder) { Ok(()) } else { Err(Refusal::NoSession) }
    }

    /// Exchanges the token for the cookie and the path of the records.
    pub(crate) fn exchange(&self, token: &str) -> Result<SessionGrant, Refusal> {
        if !self.token.matches(token) {
            return Err(Refusal::NoSession);
        }
        let folder = format!("/api/{}/", self.folder.0);
        let cookie = format!("{}={}; Path={folder}; HttpOnly; SameSite=Strict", self.cookie_name, self.session.0);
        Ok(SessionGrant { folder, cookie })
    }
}

/// What a page gets for the token.
pub(crate) struct SessionGrant {
    pub(crate) folder: String,
    pub(crate) cookie: String,
}
