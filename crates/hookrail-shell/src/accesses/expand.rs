//! What a word becomes in a state of the shell.

use super::evaluate::{Evaluator, Input};
use crate::facts::{FactSet, Why};
use crate::resolve::{
    ANY, BRACKET, HOLE, Hole, ONE, PIPE, Value, Variable, World, change_case, has_marks, is_pattern, remove, replace,
    substring,
};
use crate::syntax::{GlobMark, Operation, Parameter, Piece, PieceKind, Quotes, Span, Word};
use crate::syntax::{Node, ShellScript};

/// The most words that braces give.
const MOST_BRACE_WORDS: usize = 4096;
/// The longest text on which patterns are tried, and the longest pattern.
const MOST_TRIED: usize = 128;
/// The most braces of a word that are expanded.
const MOST_BRACES: usize = 16;

/// What a parameter gives: one value, or several words.
enum Expanded {
    One(Value),
    Several(Vec<Value>),
}

/// The words that are made of one word.
#[derive(Default)]
struct Fields {
    done: Vec<Value>,
    current: Option<Value>,
}

impl Fields {
    fn add(&mut self, value: Value) {
        match &mut self.current {
            Some(current) => current.push(&value),
            None => self.current = Some(value),
        }
    }

    fn end(&mut self) {
        self.done.extend(self.current.take());
    }
}

impl Evaluator<'_> {
    /// Expands words to arguments, as many as are followed.
    pub(crate) fn all_fields(&mut self, words: &[Word], world: &mut World, mut add: impl FnMut(Value, Span)) {
        for word in words {
            if !self.takes_word(word.span) {
                break;
            }
            let span = self.span(word.span);
            if let [Piece { kind: PieceKind::Text(text), .. }] = word.pieces.as_slice() {
                add(Value::known(text.as_str()), span);
                continue;
            }
            let fields = self.fields(word, world);
            for value in fields {
                add(value, span);
            }
        }
    }

    /// Counts a word, if a further one is followed.
    pub(crate) fn takes_word(&mut self, span: Span) -> bool {
        self.charge(8);
        let has_room = !self.is_spent();
        if !has_room {
            let span = self.span(span);
            self.unknown(Why::TooManyWords, FactSet::EVERYTHING, span);
        }
        has_room
    }

    /// Expands a word to arguments.
    pub(crate) fn fields(&mut self, word: &Word, world: &mut World) -> Vec<Value> {
        if let [Piece { kind: PieceKind::Text(text), .. }] = word.pieces.as_slice() {
            return vec![Value::known(text.as_str())];
        }
        if !word.pieces.iter().any(is_brace) {
            let fields = self.fields_of(&word.pieces, world);
            return self.limited(fields, word);
        }
        let mut variants = vec![Vec::new()];
        let is_complete = expand_braces(&word.pieces, MOST_BRACES, &mut variants);
        if !is_complete {
            let span = self.span(word.span);
            self.unknown(Why::TooManyWords, FactSet::EVERYTHING, span);
        }
        let fields: Vec<Value> = variants.iter().flat_map(|pieces| self.fields_of(pieces, world)).collect();
        self.charge(fields.len().saturating_mul(8));
        self.limited(fields, word)
    }

    /// Keeps as many words as are followed.
    fn limited(&mut self, mut fields: Vec<Value>, word: &Word) -> Vec<Value> {
        if fields.len() > MOST_BRACE_WORDS {
            let span = self.span(word.span);
            self.unknown(Why::TooManyWords, FactSet::EVERYTHING, span);
            fields.truncate(MOST_BRACE_WORDS);
        }
        self.charge(fields.len().saturating_mul(16));
        fields
    }

    fn fields_of(&mut self, pieces: &[Piece], world: &mut World) -> Vec<Value> {
        let mut fields = Fields::default();
        for piece in pieces {
            let is_quoted = piece.quotes != Quotes::None;
            match self.expanded(piece, world) {
                Expanded::One(value) if is_quoted || !is_split(&piece.kind) => fields.add(value),
                Expanded::One(value) => split(&value, world, &mut fields),
                Expanded::Several(values) => {
                    for (index, value) in values.into_iter().enumerate() {
                        if index > 0 {
                            fields.end();
                        }
                        if is_quoted { fields.add(value) } else { split(&value, world, &mut fields) }
                    }
                }
            }
        }
        // Only `"$@"` without parameters stands in the word: the quotes around it make no word.
        let is_list = |piece: &Piece| matches!(&piece.kind, PieceKind::Parameter(parameter) if parameter.is_list());
        let is_empty = fields.current.as_ref().is_some_and(|value| value.text.is_empty());
        if is_empty && pieces.iter().any(is_list) {
            fields.current = None;
        }
        fields.end();
        fields.done
    }

    /// Expands pieces to one text, as in an assignment.
    pub(crate) fn single(&mut self, pieces: &[Piece], world: &mut World) -> Value {
        let mut joined = Value::default();
        for piece in pieces {
            match self.expanded(piece, world) {
                Expanded::One(value) => joined.push(&value),
                Expanded::Several(values) => {
                    for (index, value) in values.iter().enumerate() {
                        if index > 0 {
                            joined.text.push(' ');
                        }
                        joined.push(value);
                    }
                }
            }
        }
        joined
    }

    pub(crate) fn hole(&self, why: Why, span: Span) -> Hole {
        Hole { why, span: self.span(span), net: false, secret: false }
    }

    fn expanded(&mut self, piece: &Piece, world: &mut World) -> Expanded {
        Expanded::One(match &piece.kind {
            PieceKind::Text(text) => Value::known(text.as_str()),
            PieceKind::Glob(GlobMark::Any) => Value::known(ANY),
            PieceKind::Glob(GlobMark::One) => Value::known(ONE),
            PieceKind::Glob(GlobMark::Bracket) => Value::known(BRACKET),
            PieceKind::Tilde(user) => self.tilde(user, piece.span, world),
            PieceKind::Arithmetic(pieces) => {
                self.arithmetic(pieces, piece.span, world);
                // A number: it has no slash and no blank.
                Value::known(ANY)
            }
            PieceKind::Command(code) => {
                let output = code.script.as_deref().map(|script| self.substitution(script, piece.span, world));
                if code.script.as_deref().is_some_and(names_folder) && world.function("pwd").is_none() {
                    return Expanded::One(world.folder.clone());
                }
                let output = output.unwrap_or_default();
                if let Some(patterns) = output.text.as_ref().and_then(patterns)
                    && (patterns.len() == 1 || piece.quotes == Quotes::None)
                {
                    return Expanded::Several(patterns);
                }
                let hole = self.hole(Why::Substitution, piece.span);
                Value::unknown(Hole { net: output.net, secret: output.secret, ..hole })
            }
            PieceKind::Process { into, code } => {
                let output = match code.script.as_deref() {
                    Some(script) if *into => self.consumer(script, piece.span, world),
                    Some(script) => self.substitution(script, piece.span, world),
                    None => super::evaluate::Output::default(),
                };
                self.pipes.push(output);
                Value::known(format!("{PIPE}{}", self.pipes.len()))
            }
            PieceKind::Brace(alternatives) => {
                // Outside of words that become arguments, braces are text.
                for alternative in alternatives {
                    self.single(alternative, world);
                }
                Value::unknown(self.hole(Why::TooManyWords, piece.span))
            }
            // Values that double would take for ever to copy.
            PieceKind::Sequence(_) => Value::unknown(self.hole(Why::TooManyWords, piece.span)),
            PieceKind::Parameter(_) if self.is_spent() => Value::unknown(self.hole(Why::TooManyWords, piece.span)),
            PieceKind::Parameter(parameter) => {
                let expanded = self.parameter(parameter, piece.span, world);
                self.charge(match &expanded {
                    Expanded::One(value) => value.text.len(),
                    Expanded::Several(values) => values.iter().map(|value| value.text.len() + 8).sum(),
                });
                return expanded;
            }
        })
    }

    /// Follows code that reads what the command writes: `>(…)`.
    fn consumer(&mut self, script: &crate::syntax::ShellScript, span: Span, world: &World) -> super::evaluate::Output {
        let (origin, command) = (self.origin, self.command);
        if let (crate::resolve::Origin::At(_), Some(base)) = (origin, script.base) {
            self.origin = crate::resolve::Origin::At(base);
        } else {
            self.origin = crate::resolve::Origin::From(self.span(span));
        }
        let fed = Input { is_fed: true, ..Input::default() };
        let mut after = self.script(script, vec![world.clone()], &fed);
        self.end_shell(&mut after);
        self.origin = origin;
        self.command = command;
        super::evaluate::Output::default()
    }

    fn tilde(&mut self, user: &str, span: Span, world: &World) -> Value {
        match user {
            "" => self.lookup("HOME", span, world),
            "+" => world.folder.clone(),
            "-" => self.lookup("OLDPWD", span, world),
            "root" => Value::known("/root"),
            _ => Value::unknown(self.hole(Why::UserHome, span)),
        }
    }

    /// Returns the value of a variable.
    pub(crate) fn lookup(&mut self, name: &str, span: Span, world: &World) -> Value {
        match world.variable(name) {
            Some(Variable::Text(value)) => return value.clone(),
            Some(Variable::Array(values)) => return values.first().cloned().unwrap_or_default(),
            Some(Variable::Unset) => return Value::default(),
            None => {}
        }
        match name {
            "HOME" => Value::known(self.scene.home),
            "PWD" => world.folder.clone(),
            "OLDPWD" if world.last_folder.is_some() => world.last_folder.clone().unwrap_or_default(),
            "IFS" => Value::known(" \t\n"),
            "$" | "!" | "?" | "RANDOM" | "SECONDS" | "UID" | "EUID" | "PPID" | "BASHPID" | "LINENO"
            | "EPOCHSECONDS" | "SRANDOM" => Value::known(ANY),
            "-" => Value::known("hBc"),
            _ => match self.scene.surroundings.variable(name) {
                Some(value) if !world.has_forgotten => Value::known(value),
                _ => Value::unknown(self.hole(Why::UnsetVariable, span)),
            },
        }
    }

    fn parameter(&mut self, parameter: &Parameter, span: Span, world: &mut World) -> Expanded {
        if let Some(subscript) = &parameter.subscript {
            let index = self.single(subscript, world);
            self.subscript_text(&index, span);
            return self.element(parameter, &index, span, world);
        }
        let name = parameter.name.as_str();
        if parameter.is_list() {
            return match &parameter.operation {
                Operation::Value | Operation::Substring { .. } if world.knows_positional => {
                    Expanded::Several(world.positional.to_vec())
                }
                Operation::Length => Expanded::One(Value::known(ANY)),
                _ => Expanded::One(Value::unknown(self.hole(Why::UnsetVariable, span))),
            };
        }
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        let value = if is_number {
            let index = name.parse::<usize>().unwrap_or(usize::MAX);
            match index.checked_sub(1) {
                Some(index) if world.knows_positional => world.positional.get(index).cloned().unwrap_or_default(),
                None => self.lookup(name, span, world),
                _ => Value::unknown(self.hole(Why::UnsetVariable, span)),
            }
        } else if name == "#" {
            if world.knows_positional { Value::known(world.positional.len().to_string()) } else { Value::known(ANY) }
        } else {
            self.lookup(name, span, world)
        };
        Expanded::One(self.operated(&parameter.operation, name, value, span, world))
    }

    /// An element of an array, or all of them.
    fn element(&mut self, parameter: &Parameter, index: &Value, span: Span, world: &mut World) -> Expanded {
        let unknown = Expanded::One(Value::unknown(self.hole(Why::UnsetVariable, span)));
        if parameter.operation == Operation::Length {
            return Expanded::One(Value::known(ANY));
        }
        let index_text = index.text.replace(ANY, "*");
        let values = match world.variable(&parameter.name) {
            Some(Variable::Array(values)) => values.clone(),
            Some(Variable::Text(value)) => vec![value.clone()],
            Some(Variable::Unset) => Vec::new(),
            None => return unknown,
        };
        if matches!(index_text.as_str(), "@" | "*") {
            return if parameter.operation == Operation::Value { Expanded::Several(values) } else { unknown };
        }
        // A value that is not known may be several, so that what stands behind it is not known either.
        let has_hole = values.iter().any(Value::has_hole);
        let value = index_text.parse::<i64>().ok().and_then(|index| {
            let length = i64::try_from(values.len()).ok()?;
            let index = if index < 0 { length + index } else { index };
            usize::try_from(index).ok()
        });
        match value {
            Some(0) if values.first().is_some_and(|first| !first.has_hole()) => {
                let value = values.first().cloned().unwrap_or_default();
                Expanded::One(self.operated(&parameter.operation, &parameter.name, value, span, world))
            }
            Some(_) if has_hole => unknown,
            Some(index) => {
                let value = values.get(index).cloned().unwrap_or_default();
                Expanded::One(self.operated(&parameter.operation, &parameter.name, value, span, world))
            }
            None => unknown,
        }
    }

    fn operated(&mut self, operation: &Operation, name: &str, value: Value, span: Span, world: &mut World) -> Value {
        let is_known = !value.has_hole();
        let is_set = is_known && !value.text.is_empty();
        match operation {
            Operation::Value => value,
            Operation::Require(word) => {
                self.single(word, world);
                value
            }
            Operation::Length if is_known => Value::known(value.text.chars().count().to_string()),
            Operation::Length => Value::known(ANY),
            Operation::Indirect => match value.plain().map(str::to_owned) {
                Some(target) if !target.is_empty() => self.lookup(&target, span, world),
                _ => Value::unknown(self.hole(Why::UnsetVariable, span)),
            },
            Operation::Default(word) => {
                let default = self.single(word, world);
                self.default(is_set, value, default)
            }
            Operation::Assign(word) => {
                let default = self.single(word, world);
                let value = self.default(is_set, value, default);
                world.set(name, Variable::Text(value.clone()));
                value
            }
            Operation::Alternative(word) => {
                let other = self.single(word, world);
                match (is_known, is_set) {
                    (true, true) => other,
                    (true, false) => Value::default(),
                    (false, _) => Value { hole: other.hole.or(value.hole), ..other },
                }
            }
            Operation::Remove { suffix, longest, pattern } => {
                let pattern = self.single(pattern, world);
                let places = value.text.len();
                self.computed(&value, &[&pattern], places, span, |text| remove(text, &pattern.text, *suffix, *longest))
            }
            Operation::Replace { all, pattern, with } => {
                let pattern = self.single(pattern, world);
                let with = self.single(with, world);
                let places = value.text.len().saturating_mul(value.text.len());
                self.computed(&value, &[&pattern, &with], places, span, |text| {
                    replace(text, &pattern.text, &with.text, *all)
                })
            }
            Operation::Substring { from, length } => {
                let from = self.single(from, world).text.trim().parse::<i64>();
                let length = length.as_ref().map(|pieces| self.single(pieces, world).text.trim().parse::<i64>());
                match (from, length) {
                    (Ok(from), None) => self.computed(&value, &[], 1, span, |text| substring(text, from, None)),
                    (Ok(from), Some(Ok(length))) => {
                        self.computed(&value, &[], 1, span, |text| substring(text, from, Some(length)))
                    }
                    _ => Value::unknown(self.hole(Why::Arithmetic, span)),
                }
            }
            Operation::Case { upper, all } => {
                self.computed(&value, &[], 1, span, |text| change_case(text, *upper, *all))
            }
            Operation::Transform('P') => {
                // A variable that the line does not set is not the line's doing.
                let is_foreign = value.hole.is_some_and(|hole| hole.why == Why::UnsetVariable);
                if (!is_known && !is_foreign) || has_substitution(&value.text) {
                    let span = self.span(span);
                    self.unknown(Why::EvaluatedTwice, FactSet::EVERYTHING, span);
                }
                value
            }
            Operation::Transform('U') => self.computed(&value, &[], 1, span, |text| change_case(text, true, true)),
            Operation::Transform('L') => self.computed(&value, &[], 1, span, |text| change_case(text, false, true)),
            Operation::Transform('u') => self.computed(&value, &[], 1, span, |text| change_case(text, true, false)),
            Operation::Transform(_) | Operation::Other => Value::unknown(self.hole(Why::UnsetVariable, span)),
        }
    }

    fn default(&self, is_set: bool, value: Value, default: Value) -> Value {
        match value.hole {
            _ if is_set => value,
            None => default,
            // The variable may be set or not: what stands here is one of the values.
            Some(hole) => Value { hole: Some(default.hole.unwrap_or(hole)), ..default },
        }
    }

    /// Computes a text. `places` says how often the first of the others is tried, if it is a pattern.
    fn computed(
        &mut self,
        value: &Value,
        others: &[&Value],
        places: usize,
        span: Span,
        compute: impl FnOnce(&str) -> String,
    ) -> Value {
        let length = value.text.len();
        let (is_too_long, work) = match others.first().map(|pattern| pattern.text.as_str()) {
            Some(pattern) if has_marks(pattern) => {
                // Only a star is tried with every length.
                let one = if pattern.contains(ANY) { pattern.len().saturating_mul(length) } else { pattern.len() };
                (length.max(pattern.len()) > MOST_TRIED, one.saturating_mul(places) / 16)
            }
            Some(_) | None => (length > 4096, length),
        };
        let is_costly = is_too_long || !self.affords(work);
        if value.text.contains(HOLE) || value.hole.is_some() || is_costly || others.iter().any(|other| other.has_hole())
        {
            return Value::unknown(value.hole.unwrap_or_else(|| self.hole(Why::UnsetVariable, span)));
        }
        Value::known(compute(&value.text))
    }

    /// Follows an arithmetic expression. It evaluates the values of its variables a second time.
    pub(crate) fn arithmetic(&mut self, pieces: &[Piece], span: Span, world: &mut World) {
        let text = self.single(pieces, world);
        let place = self.span(span);
        self.subscript_text(&text, place);
        let mut names: Vec<&str> =
            text.text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').collect();
        names.retain(|name| name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_'));
        for name in names {
            let is_dangerous = match world.variable(name) {
                Some(Variable::Text(value)) => has_substitution(&value.text),
                Some(Variable::Array(values)) => values.iter().any(|value| has_substitution(&value.text)),
                Some(Variable::Unset) | None => false,
            };
            if is_dangerous {
                self.unknown(Why::EvaluatedTwice, FactSet::EVERYTHING, place);
            }
        }
        self.set_by_arithmetic(&text.text, place, world);
    }

    /// Forgets the values of variables that an expression may set.
    fn set_by_arithmetic(&mut self, text: &str, span: Span, world: &mut World) {
        let compared = text.replace("==", " ").replace("<=", " ").replace(">=", " ").replace("!=", " ");
        if !compared.contains('=') && !text.contains("++") && !text.contains("--") {
            return;
        }
        let hole = Hole { why: Why::Arithmetic, span, net: false, secret: false };
        for name in text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_') {
            if name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
                world.set(name, Variable::Text(Value::unknown(hole)));
            }
        }
    }

    /// A text that the shell evaluates as a subscript, although it may be quoted.
    pub(crate) fn subscript_text(&mut self, text: &Value, span: Span) {
        if has_substitution(&text.text) {
            self.unknown(Why::EvaluatedTwice, FactSet::EVERYTHING, span);
        }
    }

    /// The words of `[[ … ]]`.
    pub(crate) fn test_words(&mut self, words: &[Word], span: Span, world: &mut World) {
        let place = self.span(span);
        let mut is_numeric = false;
        let mut values = Vec::new();
        for word in words {
            let value = self.single(&word.pieces, world);
            is_numeric |= matches!(value.text.as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-v");
            values.push(value);
        }
        if is_numeric {
            for value in &values {
                self.subscript_text(value, place);
                if let Some(Variable::Text(inner)) = world.variable(&value.text)
                    && has_substitution(&inner.text)
                {
                    self.unknown(Why::EvaluatedTwice, FactSet::EVERYTHING, place);
                }
            }
        }
    }
}

impl Parameter {
    fn is_list(&self) -> bool {
        self.subscript.is_none() && matches!(self.name.as_str(), "@" | "*")
    }
}

/// The lines that a command prints, if they are patterns of names and nothing that the line itself says.
fn patterns(printed: &Value) -> Option<Vec<Value>> {
    let lines: Vec<&str> = printed.text.lines().collect();
    let are_patterns = !printed.has_hole() && !lines.is_empty() && lines.iter().all(|line| is_pattern(line));
    are_patterns.then(|| lines.into_iter().map(Value::known).collect())
}

/// Whether code is `pwd`, and nothing else.
fn names_folder(script: &ShellScript) -> bool {
    let Node::Command(command) = &script.root else { return false };
    let is_pwd = |word: &Word| word.literal().is_some_and(|text| text == "pwd");
    script.faults.is_empty()
        && command.assignments.is_empty()
        && command.redirects.is_empty()
        && matches!(command.words.as_slice(), [only] if is_pwd(only))
}

/// Whether a text runs commands if a shell evaluates it.
pub(crate) fn has_substitution(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("${")
}

/// Whether the value of such a piece is divided at blanks.
fn is_split(kind: &PieceKind) -> bool {
    matches!(kind, PieceKind::Parameter(_) | PieceKind::Command(_))
}

/// Divides a value at the characters of `IFS`.
fn split(value: &Value, world: &World, fields: &mut Fields) {
    let separators = match world.variable("IFS") {
        Some(Variable::Text(separators)) => separators.text.as_str(),
        _ => " \t\n",
    };
    for letter in value.text.chars() {
        if separators.contains(letter) {
            fields.end();
            continue;
        }
        let mark = match letter {
            '*' => ANY,
            '?' => ONE,
            '[' => BRACKET,
            other => other,
        };
        let current = fields.current.get_or_insert_default();
        current.text.push(mark);
        current.hole = current.hole.or(value.hole);
    }
}

/// Whether a piece stands for several words wherever it is.
fn is_brace(piece: &Piece) -> bool {
    matches!(piece.kind, PieceKind::Brace(_) | PieceKind::Sequence(_))
}

/// Expands braces from the left. Returns whether all words were made.
fn expand_braces(pieces: &[Piece], most: usize, variants: &mut Vec<Vec<Piece>>) -> bool {
    let mut is_complete = true;
    let braces = pieces.iter().filter(|piece| is_brace(piece)).count();
    for piece in pieces.iter() {
        let unquoted = |kind| vec![Piece { span: piece.span, quotes: Quotes::None, kind }];
        let mut inner: Vec<Vec<Piece>> = Vec::new();
        // Whether all of them are names in one folder, so that a pattern can stand for them.
        let are_names;
        if let PieceKind::Brace(alternatives) = &piece.kind {
            for alternative in alternatives {
                let mut made = vec![Vec::new()];
                is_complete &= expand_braces(alternative, most, &mut made);
                inner.append(&mut made);
                if inner.len() > MOST_BRACE_WORDS {
                    break;
                }
            }
            are_names = alternatives.iter().all(|pieces| {
                crate::syntax::literal(pieces)
                    .is_some_and(|text| !text.contains('/') && !text.starts_with(['-', '.', '~']))
            });
        } else if let PieceKind::Sequence(sequence) = &piece.kind {
            inner.extend(sequence.words().take(MOST_BRACE_WORDS + 1).map(|word| unquoted(PieceKind::Text(word))));
            are_names = !sequence.has_dash();
        } else {
            for variant in &mut *variants {
                variant.push(piece.clone());
            }
            continue;
        }
        if braces > most || variants.len().saturating_mul(inner.len()) > MOST_BRACE_WORDS {
            is_complete &= are_names;
            inner = vec![unquoted(PieceKind::Glob(GlobMark::Any))];
        }
        if let [only] = inner.as_slice() {
            for variant in &mut *variants {
                variant.extend(only.iter().cloned());
            }
            continue;
        }
        let before = std::mem::take(variants);
        for variant in &before {
            for alternative in &inner {
                let mut next = variant.clone();
                next.extend(alternative.iter().cloned());
                variants.push(next);
            }
        }
    }
    is_complete
}
