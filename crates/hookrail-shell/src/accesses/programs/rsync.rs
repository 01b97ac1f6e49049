//! `rsync` and `dd`: copies in forms of their own.

use super::{Call, divide};
use crate::accesses::evaluate::Evaluator;
use crate::accesses::hosts::remote_host;
use crate::accesses::options::Arg;
use crate::accesses::record::{Reach, Use};
use crate::resolve::Value;

const VALUED: &str = "e f B M T rsh rsync-path filter exclude include exclude-from include-from files-from max-size min-size \
    partial-dir temp-dir compare-dest copy-dest link-dest block-size timeout contimeout port log-file log-file-format out-format \
    password-file bwlimit chmod chown usermap groupmap backup-dir suffix max-delete modify-window address info debug remote-option \
    skip-compress compress-level checksum-choice iconv stop-after protocol write-batch read-batch";

impl Evaluator<'_> {
    pub(super) fn rsync(&mut self, call: &Call<'_>) {
        let divided = divide(call.args, VALUED, "", false);
        if divided.has_any(&["help", "version", "V"]) {
            return;
        }
        // The host stands in the operands; of `ssh` only its options can run something here.
        let is_plain = |program: &&Arg| {
            let words = program.text().to_lowercase();
            words.split(' ').next() == Some("ssh") && !words.contains("command")
        };
        for program in divided.values(&["e", "rsh"]).filter(|program| !is_plain(program)) {
            self.code(&program.value, program.span, call.name, vec![call.world.child()], &Default::default());
        }
        for file in divided.values(&["exclude-from", "include-from", "files-from", "password-file", "read-batch"]) {
            if file.text() != "-" {
                self.use_value(Use::Read, &file.value, file.span, call.world);
            }
        }
        for file in divided.values(&["log-file", "write-batch", "backup-dir"]) {
            self.use_value(Use::Write, &file.value, file.span, call.world);
        }
        let is_dry = divided.has_any(&["n", "dry-run", "list-only"]);
        let deletes = divided.has_any(&[
            "delete",
            "delete-before",
            "delete-during",
            "delete-after",
            "delete-excluded",
            "delete-delay",
            "del",
        ]);
        let Some((target, sources)) = divided.operands.split_last() else { return };
        for source in sources {
            if let Some(host) = remote_host(source.text()) {
                self.network(host, source.span);
                continue;
            }
            self.use_value_with(Use::Read, Reach::Below, &source.value, source.span, call.world);
            if divided.has_any(&["remove-source-files"]) && !is_dry {
                self.use_value(Use::Delete, &source.value, source.span, call.world);
            }
        }
        if let Some(host) = remote_host(target.text()) {
            self.network(host, target.span);
        } else if sources.is_empty() {
            self.use_value_with(Use::Read, Reach::Below, &target.value, target.span, call.world);
        } else if !is_dry {
            self.use_value_with(Use::Write, Reach::Below, &target.value, target.span, call.world);
            if deletes {
                self.use_value_with(Use::Delete, Reach::Below, &target.value, target.span, call.world);
            }
        }
    }

    pub(super) fn dd(&mut self, call: &Call<'_>) {
        for arg in call.args {
            let (how, path) = match arg.text().split_once('=') {
                Some(("if", path)) => (Use::Read, path),
                Some(("of", path)) => (Use::Write, path),
                _ => {
                    // An argument that is not known may name the output.
                    self.unknown_kinds(
                        &arg.value,
                        &[crate::facts::FactKind::Writes, crate::facts::FactKind::Reads],
                        arg.span,
                    );
                    continue;
                }
            };
            let value = Value { text: path.to_owned(), hole: arg.value.hole };
            self.use_value(how, &value, arg.span, call.world);
        }
    }
}
