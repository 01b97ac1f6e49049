//! `curl` and `wget`: hosts, and files that are sent or written.

use super::{Call, divide};
use crate::accesses::evaluate::{Downloaded, Evaluator};
use crate::accesses::hosts::host_of;
use crate::accesses::options::{Arg, Divided};
use crate::accesses::record::Use;
use crate::facts::{FactKind, FactSet, NetworkHost, Why};
use crate::resolve::{HOLE, Value, World, base_name, shown};

const CURL_VALUED: &str = "o T d F x K c b D u H A e X w m r C E U Y y z t P Q output upload-file data data-raw data-binary \
    data-ascii data-urlencode json form form-string proxy config cookie-jar cookie dump-header user header user-agent referer \
    request write-out max-time connect-timeout range continue-at cert key cacert capath ciphers url proxy-user limit-rate retry \
    retry-delay retry-max-time resolve connect-to interface socks4 socks4a socks5 socks5-hostname preproxy output-dir trace \
    trace-ascii stderr etag-save etag-compare netrc-file unix-socket abstract-unix-socket aws-sigv4 max-filesize max-redirs \
    oauth2-bearer parallel-max create-file-mode doh-url dns-servers engine key-type cert-type pass hostpubmd5 keepalive-time \
    local-port login-options mail-from mail-rcpt noproxy pinnedpubkey proto proto-default proto-redir quote rate request-target \
    libcurl hsts alt-svc crlfile proxy-cert proxy-key proxy-cacert random-file egd-file knownhosts speed-limit speed-time ssl-version tls-max tlsv1-ciphers time-cond url-query variable expand-url";
const WGET_VALUED: &str = "O o a i P t T w U e B X A R D I l Q output-document output-file append-output input-file \
    directory-prefix tries timeout wait user-agent execute base header post-data post-file body-data body-file method user \
    password load-cookies save-cookies limit-rate referer accept reject domains exclude-domains level quota include-directories \
    exclude-directories ca-certificate certificate private-key config bind-address restrict-file-names cut-dirs";

impl Evaluator<'_> {
    pub(super) fn curl(&mut self, call: &Call<'_>) {
        let divided = divide(call.args, CURL_VALUED, "", false);
        let is_version = divided
            .options
            .iter()
            .any(|option| matches!(option.name.as_str(), "version" | "V" | "help" | "h" | "manual"));
        if is_version {
            return;
        }
        for file in divided.values(&["K", "config"]) {
            if file.text() != "-" {
                self.use_value(Use::Read, &file.value, file.span, call.world);
            }
            let facts = FactSet::of(&[FactKind::Network, FactKind::Writes, FactKind::Reads]);
            self.unknown(Why::OptionsFile, facts, file.span);
        }
        let mut folder = call.world.clone();
        for value in divided.values(&["output-dir"]) {
            self.enter_folder(value, &mut folder);
        }
        for option in &divided.options {
            let Some(value) = &option.value else { continue };
            self.curl_option(&option.name, value, call, &folder);
        }
        let urls: Vec<&Arg> = divided.operands.iter().chain(divided.values(&["url"])).collect();
        for url in &urls {
            self.url(url, call.world);
        }
        if divided.has_any(&["O", "remote-name", "remote-name-all", "J", "remote-header-name"]) {
            for url in &urls {
                self.download(url, &folder);
            }
        }
    }

    fn curl_option(&mut self, name: &str, value: &Arg, call: &Call<'_>, folder: &World) {
        let text = value.text();
        match name {
            "o" | "output" if text != "-" => self.downloaded_to(&value.value, value, folder),
            "c" | "cookie-jar" | "D" | "dump-header" | "trace" | "trace-ascii" | "stderr" | "etag-save" | "libcurl"
            | "hsts" | "alt-svc"
                if text != "-" =>
            {
                self.use_value(Use::Write, &value.value, value.span, call.world);
            }
            "T" | "upload-file" if text != "-" && text != "." => {
                self.use_value(Use::Read, &value.value, value.span, call.world);
            }
            "d" | "data" | "data-binary" | "data-ascii" | "data-urlencode" | "json" | "H" | "header" | "w"
            | "write-out" => {
                self.curl_file(value, '@', call);
            }
            "F" | "form" => {
                self.curl_file(value, '@', call);
                self.curl_file(value, '<', call);
            }
            "b" | "cookie" if !text.contains('=') => self.use_value(Use::Read, &value.value, value.span, call.world),
            "E" | "cert" | "key" | "cacert" | "netrc-file" | "etag-compare" | "crlfile" | "proxy-cert"
            | "proxy-key" => {
                self.use_value(Use::Read, &value.value, value.span, call.world);
            }
            "x" | "proxy" | "preproxy" | "socks5" | "socks4" | "socks5-hostname" | "socks4a" | "doh-url" => {
                self.host(host_of(text), value);
            }
            _ => {}
        }
    }

    /// A file in a value: `@file`, `name=@file;type=…`.
    fn curl_file(&mut self, value: &Arg, mark: char, call: &Call<'_>) {
        let text = value.text();
        let path = match text.find(mark) {
            Some(0) => text.get(1..),
            Some(index) if text.get(..index).is_some_and(|head| head.ends_with('=') || !head.contains('=')) => {
                text.get(index + 1..)
            }
            _ => None,
        };
        let path = path.map(|path| path.split(';').next().unwrap_or_default());
        if let Some(path) = path.filter(|path| !path.is_empty() && *path != "-") {
            let file = Value { text: path.to_owned(), hole: value.value.hole };
            self.use_value(Use::Read, &file, value.span, call.world);
        }
    }

    fn downloaded_to(&mut self, file: &Value, arg: &Arg, world: &World) {
        self.use_value(Use::Write, file, arg.span, world);
        let path = shown(&self.place_of(file, world).path);
        self.downloaded.push(Downloaded { path });
    }

    /// A file that is named like the end of its URL.
    fn download(&mut self, url: &Arg, world: &World) {
        let text = url.text();
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let name = if rest.contains('/') { base_name(rest.split(['?', '#']).next().unwrap_or_default()) } else { "" };
        let name = if name.is_empty() || rest.ends_with('/') { "index.html" } else { name };
        let name = if name.contains(HOLE) { "index.html".to_owned() } else { name.to_owned() };
        self.downloaded_to(&Value { text: name, hole: url.value.hole }, url, world);
    }

    pub(super) fn wget(&mut self, call: &Call<'_>) {
        let divided = divide(call.args, WGET_VALUED, "", false);
        // `-nv`, `-nc` and their like are two letters; `-h` and `-V` alone print.
        if divided.options.iter().any(|option| matches!(option.name.as_str(), "version" | "V" | "help" | "h")) {
            return;
        }
        let world = self.wget_folder(&divided, call);
        for file in divided.values(&["i", "input-file"]) {
            if file.text() != "-" {
                self.use_value(Use::Read, &file.value, file.span, call.world);
            }
            self.network(NetworkHost::Unknown, file.span);
        }
        for file in
            divided.values(&["post-file", "body-file", "load-cookies", "ca-certificate", "certificate", "private-key"])
        {
            self.use_value(Use::Read, &file.value, file.span, call.world);
        }
        for file in divided.values(&["o", "output-file", "a", "append-output", "save-cookies"]) {
            self.use_value(Use::Write, &file.value, file.span, call.world);
        }
        for program in divided.values(&["use-askpass"]) {
            self.code(&program.value, program.span, call.name, vec![call.world.child()], &Default::default());
        }
        let outputs: Vec<Arg> = divided.values(&["O", "output-document"]).cloned().collect();
        for output in &outputs {
            if output.text() != "-" {
                self.downloaded_to(&output.value, output, call.world);
            }
        }
        for url in &divided.operands {
            self.url(url, call.world);
            if outputs.is_empty() && !divided.has_any(&["spider"]) {
                self.download(url, &world);
            }
        }
    }

    fn wget_folder(&mut self, divided: &Divided, call: &Call<'_>) -> World {
        let mut world = call.world.clone();
        for folder in divided.values(&["P", "directory-prefix"]) {
            self.enter_folder(folder, &mut world);
        }
        world
    }
}
