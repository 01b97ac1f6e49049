//! Commands of clients that copy files: `sftp`, `ftp`, `lftp`, `smbclient`.

use crate::accesses::evaluate::{Downloaded, Evaluator, Input};
use crate::accesses::record::Use;
use crate::facts::{FactKind, FactSet, FlowKind, Why};
use crate::resolve::{Value, World, base_name, join, shown};
use crate::syntax::Span;

impl Evaluator<'_> {
    /// Follows the commands in a text: what is sent is read here, and what is fetched is written.
    pub(crate) fn transfer(&mut self, commands: &Value, span: Span, name: &str, world: &World) {
        if commands.has_hole() {
            let facts = FactSet::of(&[FactKind::Reads, FactKind::Writes]);
            self.unknown(Why::CodeFromValue, facts, span);
        }
        let mut world = world.clone();
        for line in commands.text.split(['\n', ';']).map(str::trim) {
            if let Some(code) = line.strip_prefix('!') {
                let code = Value { text: code.to_owned(), hole: commands.hole };
                self.code(&code, span, name, vec![world.child()], &Input::default());
                continue;
            }
            let mut words = line.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
            let command = words.next().unwrap_or_default();
            let operands: Vec<&str> = words.filter(|word| !word.starts_with('-')).collect();
            let value = |text: &str| Value { text: text.to_owned(), hole: commands.hole };
            match (command, operands.as_slice()) {
                ("lcd", [folder, ..]) => {
                    world.folder = Value { text: join(&world.folder.text, folder), hole: world.folder.hole };
                }
                ("put" | "reput" | "send" | "append", [file, ..]) => self.sent(&value(file), span, &world),
                ("mput" | "mirror", files) => {
                    for file in files {
                        self.sent(&value(file), span, &world);
                    }
                }
                ("get" | "reget" | "recv" | "pget", [file, rest @ ..]) => {
                    let target = rest.first().copied().unwrap_or(base_name(file));
                    self.use_value(Use::Write, &value(target), span, &world);
                    let path = shown(&self.place_of(&value(target), &world).path);
                    self.downloaded.push(Downloaded { path });
                }
                _ => {}
            }
        }
    }

    fn sent(&mut self, file: &Value, span: Span, world: &World) {
        self.use_value(Use::Read, file, span, world);
        if crate::accesses::secrets::is_secret(&self.place_of(file, world).path) {
            self.flow(FlowKind::SecretToNet, span);
        }
    }
}
