//! `tar`: archives that are read or written, and where they are unpacked.

use super::{Call, divide};
use crate::accesses::evaluate::{Downloaded, Evaluator};
use crate::accesses::hosts::{host_of, remote_host};
use crate::accesses::options::Arg;
use crate::accesses::record::{Reach, Use};
use crate::resolve::{Value, Variable, shown};

const VALUED: &str = "f C T X b H g I K N V L F file directory files-from exclude-from exclude transform xform strip-components \
    use-compress-program to-command checkpoint-action mode owner group mtime listed-incremental newer format rsh-command \
    rmt-command suffix sort info-script new-volume-script";

impl Evaluator<'_> {
    pub(super) fn tar(&mut self, call: &Call<'_>) {
        // Its first word is all options, with a dash or without.
        let letters = call.args.first().map_or(0, |first| first.text().len());
        if !self.affords(letters.saturating_mul(16)) {
            return;
        }
        let args: Vec<Arg> = options_of_variable(call).into_iter().chain(modern(call.args)).collect();
        let divided = divide(&args, VALUED, "", false);
        let mut world = call.world.clone();
        for folder in divided.values(&["C", "directory"]) {
            self.enter_folder(folder, &mut world);
        }
        for program in divided.values(&[
            "I",
            "use-compress-program",
            "to-command",
            "rsh-command",
            "rmt-command",
            "F",
            "info-script",
            "new-volume-script",
        ]) {
            self.code(&program.value, program.span, call.name, vec![world.child()], &Default::default());
        }
        for action in divided.values(&["checkpoint-action"]) {
            if let Some(code) = action.text().strip_prefix("exec=") {
                let code = Value { text: code.to_owned(), hole: action.value.hole };
                self.code(&code, action.span, call.name, vec![world.child()], &Default::default());
            }
        }
        for list in divided.values(&["T", "files-from", "X", "exclude-from"]) {
            self.use_value(Use::Read, &list.value, list.span, call.world);
        }
        let archive: Vec<&Arg> = divided.values(&["f", "file"]).filter(|file| file.text() != "-").collect();
        let extracts = divided.has_any(&["x", "extract", "get"]);
        let creates =
            divided.has_any(&["c", "create", "r", "append", "u", "update", "A", "catenate", "concatenate", "delete"]);
        for file in archive {
            if let Some(host) = remote_host(file.text()).filter(|_| !divided.has_any(&["force-local"])) {
                self.host(host, file);
                continue;
            }
            if file.value.is_pipe() {
                continue;
            }
            self.use_value(if creates { Use::Write } else { Use::Read }, &file.value, file.span, call.world);
        }
        if extracts && !divided.has_any(&["O", "to-stdout", "to-command"]) {
            let value = Value { text: world.folder.text.clone(), hole: world.folder.hole };
            // Which of the files there it writes the archive decides, as a script would.
            self.use_value_with(Use::Write, Reach::TrackedBelow, &value, call.span, &world);
            for folder in divided.values(&["one-top-level"]) {
                self.use_value_with(Use::Write, Reach::Below, &folder.value, folder.span, &world);
            }
            if call.input.net {
                let path = format!("{}/**", shown(&world.folder.text));
                self.downloaded.push(Downloaded { path });
            }
            if divided.has_any(&["P", "absolute-names"]) {
                self.unknown(
                    crate::facts::Why::Archive,
                    crate::facts::FactSet::of(&[crate::facts::FactKind::Writes]),
                    call.span,
                );
            }
        }
        if creates {
            for source in &divided.operands {
                self.use_value_with(Use::Read, Reach::Below, &source.value, source.span, &world);
                if divided.has_any(&["remove-files"]) {
                    self.use_value(Use::Delete, &source.value, source.span, &world);
                }
            }
        }
        if let Some(host) = divided.values(&["rsh-command"]).next() {
            self.network(host_of(host.text()), host.span);
        }
    }
}

/// Returns arguments in which options of the old style have a dash: `tar xf a` is `tar -x -f a`.
fn modern(args: &[Arg]) -> Vec<Arg> {
    let Some((first, rest)) = args.split_first() else { return Vec::new() };
    if first.text().starts_with('-') || first.text().is_empty() {
        return args.to_vec();
    }
    let mut modern = Vec::new();
    let mut values = rest.iter();
    for letter in first.text().chars() {
        modern.push(Arg { value: Value::known(format!("-{letter}")), span: first.span });
        if matches!(letter, 'f' | 'C' | 'T' | 'X' | 'b' | 'H' | 'g' | 'I' | 'K' | 'N' | 'V' | 'L' | 'F') {
            modern.extend(values.next().cloned());
        }
    }
    modern.extend(values.cloned());
    modern
}

/// The options that `TAR_OPTIONS` puts before those of the line.
fn options_of_variable(call: &Call<'_>) -> Vec<Arg> {
    let Some(Variable::Text(value)) = call.world.variable("TAR_OPTIONS") else { return Vec::new() };
    let words = crate::words::command_words(&value.text).unwrap_or_default();
    let arg = |text: String| Arg { value: Value { text, hole: value.hole }, span: call.span };
    words.iter().filter_map(|word| word.literal()).map(|text| arg(text.into_owned())).collect()
}
