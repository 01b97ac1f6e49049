//! `find`: what it deletes, writes and runs.

use super::Call;
use crate::accesses::evaluate::{After, Evaluator, Output};
use crate::accesses::options::Arg;
use crate::accesses::record::Use;
use crate::accesses::secrets::name_patterns;
use crate::resolve::{ANY, Value};

/// Options of `fd` with a value.
const FD_VALUED: &str = "e E d t s S o c j extension exclude max-depth min-depth exact-depth type size owner changed-within \
    changed-before search-path base-directory color threads batch-size max-results format ignore-file and";

/// What `find` does with what it finds.
const ACTIONS: [&str; 11] =
    ["-print", "-print0", "-printf", "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprintf", "-ls"];

/// Tests and actions with one value that is no file which is written.
const VALUED: [&str; 37] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-type",
    "-xtype",
    "-size",
    "-mtime",
    "-atime",
    "-ctime",
    "-mmin",
    "-amin",
    "-cmin",
    "-newer",
    "-anewer",
    "-cnewer",
    "-perm",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-maxdepth",
    "-mindepth",
    "-links",
    "-inum",
    "-samefile",
    "-lname",
    "-ilname",
    "-fstype",
    "-used",
    "-regextype",
    "-context",
    "-files0-from",
];

impl Evaluator<'_> {
    pub(super) fn find(&mut self, call: &Call<'_>) -> After {
        let mut args = call.args;
        while let Some((first, rest)) = args.split_first() {
            match first.text() {
                "-H" | "-L" | "-P" => args = rest,
                "-D" => args = rest.get(1..).unwrap_or_default(),
                text if text.starts_with("-O") => args = rest,
                _ => break,
            }
        }
        let count = args.iter().take_while(|arg| !is_expression(arg.text())).count();
        let (roots, expression) = args.split_at_checked(count).unwrap_or((args, &[]));
        let here = [Arg { value: Value::known("."), span: call.span }];
        let roots = if roots.is_empty() { here.as_slice() } else { roots };
        let names = found_names(expression);
        let found: Vec<Arg> = roots.iter().flat_map(|root| self.found(root, names.as_deref(), call)).collect();
        let mut prints = true;
        let mut deletes = false;
        let mut rest = expression.iter();
        while let Some(arg) = rest.next() {
            match arg.text() {
                "-delete" => (prints, deletes) = (false, true),
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    prints = false;
                    let mut command = Vec::new();
                    for part in rest.by_ref() {
                        let ends = part.text() == ";"
                            || (part.text() == "+" && command.last().is_some_and(|last: &Arg| last.text() == "{}"));
                        if ends {
                            break;
                        }
                        command.push(part.clone());
                    }
                    for item in &found {
                        let Some(args) = self.with_item(&command, "{}", &item.value) else { break };
                        self.wrapped(call.name, &args, call.span, call.world.child(), &Default::default());
                    }
                }
                "-fprint" | "-fprint0" | "-fls" => {
                    if let Some(file) = rest.next() {
                        self.use_value(Use::Write, &file.value, file.span, call.world);
                    }
                }
                "-fprintf" => {
                    if let Some(file) = rest.next() {
                        self.use_value(Use::Write, &file.value, file.span, call.world);
                    }
                    rest.next();
                }
                "-printf" => {
                    prints = false;
                    rest.next();
                }
                text if VALUED.contains(&text) => {
                    rest.next();
                }
                _ => {}
            }
        }
        for item in found.iter().filter(|_| deletes) {
            self.use_value(Use::Delete, &item.value, item.span, call.world);
        }
        // The paths that are printed: patterns, one on each line.
        let paths = found.iter().map(|item| &item.value).filter(|_| prints);
        let text = paths.fold(None, |lines: Option<Value>, path| {
            let mut lines = lines.unwrap_or_default();
            lines.push(path);
            lines.text.push('\n');
            Some(lines)
        });
        After::same(call.world.clone(), Output { text, ..Output::default() })
    }

    /// `fd PATTERN FOLDER… -x COMMAND`.
    pub(super) fn fd(&mut self, call: &Call<'_>) -> After {
        let is_exec = |arg: &&Arg| matches!(arg.text(), "-x" | "--exec" | "-X" | "--exec-batch");
        let count = call.args.iter().take_while(|arg| !is_exec(arg)).count();
        let (own, command) = call.args.split_at_checked(count).unwrap_or((call.args, &[]));
        let divided = super::divide(own, FD_VALUED, "", false);
        let here = [Arg { value: Value::known("."), span: call.span }];
        let roots = divided.operands.get(1..).filter(|roots| !roots.is_empty()).unwrap_or(&here);
        let found: Vec<Arg> = roots.iter().flat_map(|root| self.found(root, None, call)).collect();
        let command: Vec<Arg> = command.iter().skip(1).take_while(|arg| arg.text() != ";").cloned().collect();
        if command.is_empty() {
            let text = found.iter().map(|item| format!("{}\n", item.text())).collect::<String>();
            let output = Output { text: Some(Value::known(text)), ..Output::default() };
            return After::same(call.world.clone(), output);
        }
        for item in &found {
            let has_mark = command.iter().any(|part| part.text().contains('{'));
            let Some(mut args) = self.with_item(&command, "{}", &item.value) else { break };
            if !has_mark {
                args.push(item.clone());
            }
            self.wrapped(call.name, &args, call.span, call.world.child(), &Default::default());
        }
        After::same(call.world.clone(), Output::default())
    }

    /// Returns patterns for what is found below a root.
    fn found(&mut self, root: &Arg, names: Option<&[String]>, call: &Call<'_>) -> Vec<Arg> {
        let place = self.place_of(&root.value, call.world);
        let hole = root.value.hole.or(call.world.folder.hole.filter(|_| !root.text().starts_with('/')));
        let mut below = place.path;
        if !below.ends_with('/') {
            below.push('/');
        }
        below.extend([ANY, ANY]);
        if !self.affords(names.map_or(0, <[_]>::len).saturating_mul(8 + below.len() / 8)) {
            return Vec::new();
        }
        let texts: Vec<String> = match names {
            Some(names) => names.iter().map(|name| format!("{below}/{name}")).collect(),
            None => vec![below],
        };
        texts.into_iter().map(|text| Arg { value: Value { text, hole }, span: root.span }).collect()
    }
}

/// The names of which what is found has one. None if it may have any.
fn found_names(expression: &[Arg]) -> Option<Vec<String>> {
    let is_not = |arg: &Arg| matches!(arg.text(), "!" | "-not");
    let is_not_group = |pair: &[Arg]| matches!(pair, [not, group] if is_not(not) && group.text() == "(");
    if expression.windows(2).any(is_not_group) || expression.iter().any(|arg| arg.text() == ",") {
        return None;
    }
    // What is found meets all tests of one of the alternatives, however they are grouped.
    let mut alternatives: Vec<&[Arg]> = expression.split(|arg| matches!(arg.text(), "-o" | "-or")).collect();
    let acts = |alternative: &&[Arg]| alternative.iter().any(|arg| ACTIONS.contains(&arg.text()));
    if alternatives.iter().any(acts) {
        // What is only passed over is not found.
        alternatives.retain(|one| acts(one) || !one.iter().any(|arg| arg.text() == "-prune"));
    }
    let name = |tests: &[Arg]| {
        let is_name = |index: usize| {
            let before = index.checked_sub(1).and_then(|before| tests.get(before));
            tests.get(index).is_some_and(|test| matches!(test.text(), "-name" | "-iname"))
                && !before.is_some_and(is_not)
        };
        let index = (0..tests.len()).find(|index| is_name(*index))?;
        name_patterns(tests.get(index + 1)?.text())
    };
    let names: Option<Vec<Vec<String>>> = alternatives.into_iter().map(name).collect();
    names.map(|names| names.into_iter().flatten().collect())
}

fn is_expression(text: &str) -> bool {
    text.starts_with('-') && text.len() > 1 || matches!(text, "(" | ")" | "!" | ",")
}
