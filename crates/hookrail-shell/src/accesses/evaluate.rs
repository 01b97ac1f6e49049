//! Follows the structure of a line with the states that its shell may be in.

use std::rc::Rc;

use super::Scene;
use super::line_files::LineFiles;
use crate::facts::{Accesses, FactSet, Why};
use crate::parse::parse_code;
use crate::resolve::{ANY, BRACKET, Function, HOLE, Hole, ONE, Origin, TRACKED, Value, Variable, World};
use crate::syntax::{Connector, Node, Redirect, ShellScript, SimpleCommand};
use crate::syntax::{Piece, Span};
use crate::tables::{ProgramTables, Tables, tables};

/// The most states that are followed at a time.
const MOST_STATES: usize = 4;
/// The most commands of a line.
const MOST_COMMANDS: usize = 512;
/// The most work that a line makes. A unit takes 10 to 20 ns.
const MOST_WORK: usize = 224 * 1024;
/// What a command costs beside its words, and code beside its length.
const COMMAND: usize = 32;
const CODE: usize = 96;
/// How often code may stand in code, functions included.
const DEEPEST_CODE: u32 = 8;
/// The most values of a loop that are followed one by one.
const MOST_VALUES: usize = 64;

/// What a command reads from standard input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    /// Whether it is a pipe or text of the line.
    pub(crate) is_fed: bool,
    /// The text, if the line gives it.
    pub(crate) text: Option<Value>,
    pub(crate) net: bool,
    pub(crate) secret: bool,
    /// The file that it is.
    pub(crate) file: Option<Value>,
}

/// What a command writes to standard output.
#[derive(Clone, Debug, Default)]
pub(crate) struct Output {
    pub(crate) text: Option<Value>,
    pub(crate) net: bool,
    pub(crate) secret: bool,
}

/// The states behind a command.
#[derive(Debug, Default)]
pub(crate) struct After {
    pub(crate) success: Vec<World>,
    pub(crate) failure: Vec<World>,
    pub(crate) output: Output,
}

impl After {
    /// A command that changes nothing of the shell.
    pub(crate) fn same(world: World, output: Output) -> Self {
        Self { failure: vec![world.clone()], success: vec![world], output }
    }
}

/// A file that the line writes with what came from the network.
#[derive(Clone, Debug)]
pub(crate) struct Downloaded {
    pub(crate) path: String,
}

pub(crate) struct Evaluator<'s> {
    pub(crate) scene: &'s Scene<'s>,
    pub(crate) tables: &'s Tables,
    pub(crate) facts: Accesses,
    pub(crate) via: Vec<String>,
    pub(crate) origin: Origin,
    /// The index of the current command.
    pub(crate) command: Option<usize>,
    pub(crate) depth: u32,
    pub(crate) downloaded: Vec<Downloaded>,
    /// The numbers of files that are connections.
    pub(crate) connections: Vec<u32>,
    /// Settings of git that the line writes: aliases, remotes.
    pub(crate) git_settings: Vec<(String, String)>,
    /// What the pipes of `<(…)` give, in their order.
    pub(crate) pipes: Vec<Output>,
    pub(crate) line_files: LineFiles,
    /// The work that was made.
    work: usize,
    /// No further command is followed.
    is_exhausted: bool,
}

impl<'s> Evaluator<'s> {
    pub(crate) fn new(scene: &'s Scene<'s>) -> Self {
        Self {
            scene,
            tables: scene.surroundings.programs().map_or_else(|| tables(), ProgramTables::tables),
            facts: Accesses::default(),
            via: Vec::new(),
            origin: Origin::At(0),
            command: None,
            depth: 0,
            downloaded: Vec::new(),
            connections: Vec::new(),
            git_settings: Vec::new(),
            pipes: Vec::new(),
            line_files: LineFiles::default(),
            work: 0,
            is_exhausted: false,
        }
    }

    pub(crate) fn span(&self, span: Span) -> Span {
        match self.origin {
            Origin::At(base) => span.shifted(base),
            Origin::From(word) => word,
        }
    }

    /// Follows a whole line.
    pub(crate) fn line(&mut self, script: &ShellScript, input: &Input) {
        let world = World::new(&crate::resolve::normal(self.scene.cwd));
        let mut after = self.script(script, vec![world], input);
        self.end_shell(&mut after);
    }

    /// What a shell still runs when it ends: functions that `trap` named before they were defined.
    pub(crate) fn end_shell(&mut self, after: &mut After) {
        let mut done: Vec<Span> = Vec::new();
        for world in after.success.iter_mut().chain(&mut after.failure).filter(|world| !world.late_traps.is_empty()) {
            for (code, span) in std::mem::take(&mut world.late_traps) {
                if !done.contains(&span) {
                    done.push(span);
                    self.code(&code, span, "trap", vec![world.clone()], &Input::default());
                }
            }
        }
    }

    /// Follows a script in the given states.
    pub(crate) fn script(&mut self, script: &ShellScript, worlds: Vec<World>, input: &Input) -> After {
        for fault in &script.faults {
            let span = self.span(fault.span);
            self.unknown(Why::Fault(fault.kind), FactSet::EVERYTHING, span);
            // A shell refuses a line that does not end. One that is complete it may read: there the reader is at its limit.
            if fault.kind.may_be_read_by_a_shell() {
                self.unknown(Why::FormNotKnown, FactSet::EVERYTHING, span);
            }
        }
        self.node(&script.root, worlds, input)
    }

    /// Follows the code of a substitution, in a copy of the state.
    pub(crate) fn substitution(&mut self, script: &ShellScript, outer: Span, world: &World) -> Output {
        let before = self.origin;
        let command = self.command;
        self.origin = match (before, script.base) {
            (Origin::From(word), _) => Origin::From(word),
            (Origin::At(_), Some(base)) => Origin::At(base),
            (Origin::At(_), None) => Origin::From(self.span(outer)),
        };
        let mut after = self.script(script, vec![world.clone()], &Input::default());
        self.end_shell(&mut after);
        self.origin = before;
        self.command = command;
        after.output
    }

    /// Follows code that stands in a text: `sh -c`, `eval`.
    pub(crate) fn code(&mut self, code: &Value, span: Span, via: &str, worlds: Vec<World>, input: &Input) -> After {
        if code.has_hole() {
            self.hidden_code(code.hole, span);
        }
        self.shown_code(code, span, via, worlds, input)
    }

    /// Follows code as far as it is known.
    pub(crate) fn shown_code(
        &mut self,
        code: &Value,
        span: Span,
        via: &str,
        worlds: Vec<World>,
        input: &Input,
    ) -> After {
        self.charge(code.text.len().saturating_mul(3).saturating_add(CODE));
        // No command of it would be followed, so it is not read.
        if self.is_full() {
            return After { failure: worlds.clone(), success: worlds, output: Output::default() };
        }
        // Patterns are characters in code. What is not known stays, so that the rest is a lower bound.
        let text: String = code.text.chars().map(as_code).collect();
        if text.chars().all(|letter| letter == HOLE) {
            return After { failure: worlds.clone(), success: worlds, output: Output::default() };
        }
        self.nested(via, span, worlds, |evaluator, worlds| {
            let script = parse_code(&text, Some(0), 0);
            evaluator.origin = Origin::From(span);
            let mut after = evaluator.script(&script, worlds, input);
            evaluator.end_shell(&mut after);
            after
        })
    }

    /// Code that the line does not show.
    pub(crate) fn hidden_code(&mut self, hole: Option<Hole>, span: Span) {
        if hole.is_some_and(|hole| hole.net) {
            self.executes(crate::facts::Executed::Input, span);
            self.flow(crate::facts::FlowKind::NetToExec, span);
        }
        self.unknown(Why::CodeFromValue, FactSet::EVERYTHING, span);
    }

    /// Runs a step one level deeper: code of a wrapper or the body of a function.
    pub(crate) fn nested<F>(&mut self, via: &str, span: Span, worlds: Vec<World>, step: F) -> After
    where
        F: FnOnce(&mut Self, Vec<World>) -> After,
    {
        if self.depth >= DEEPEST_CODE {
            self.unknown(Why::CodeTooDeep, FactSet::EVERYTHING, span);
            return After { failure: worlds.clone(), success: worlds, output: Output::default() };
        }
        let (origin, command) = (self.origin, self.command);
        self.depth += 1;
        self.via.push(via.to_owned());
        let after = step(self, worlds);
        self.via.pop();
        self.depth -= 1;
        self.origin = origin;
        self.command = command;
        after
    }

    /// Counts work.
    pub(crate) fn charge(&mut self, work: usize) {
        self.work = self.work.saturating_add(work);
    }

    /// Whether the work that a line may make is done.
    pub(crate) fn is_spent(&self) -> bool {
        self.work > MOST_WORK
    }

    pub(crate) fn is_full(&mut self) -> bool {
        self.charge(COMMAND);
        self.is_exhausted |= self.facts.commands.len() >= MOST_COMMANDS;
        !self.affords(0)
    }

    /// Counts work before it is done. If it is too much, nothing further is followed.
    pub(crate) fn affords(&mut self, work: usize) -> bool {
        self.charge(work);
        self.is_exhausted |= self.is_spent();
        self.note_exhausted();
        !self.is_exhausted
    }

    /// Says that commands are not followed.
    pub(crate) fn note_exhausted(&mut self) {
        if self.is_exhausted {
            self.unknown(Why::TooManyCommands, FactSet::EVERYTHING, Span::default());
        }
    }

    /// Says that a command gets variables that are not followed.
    pub(crate) fn note_forgotten(&mut self, worlds: &[World]) {
        if worlds.iter().any(|world| world.has_forgotten) {
            self.unknown(Why::TooManyVariables, FactSet::EVERYTHING, Span::default());
        }
    }

    pub(crate) fn node(&mut self, node: &Node, worlds: Vec<World>, input: &Input) -> After {
        if worlds.is_empty() {
            return After::default();
        }
        if self.is_exhausted {
            return After { failure: Vec::new(), success: worlds, output: Output::default() };
        }
        match node {
            Node::Nothing => After { failure: Vec::new(), success: worlds, output: Output::default() },
            Node::Command(command) => self.commands(command, worlds, input),
            Node::Sequence(nodes) => self.sequence(nodes, worlds, input),
            Node::Chain(first, rest) => self.chain(first, rest, worlds, input),
            Node::Not(inner) => {
                let after = self.node(inner, worlds, input);
                After { success: after.failure, failure: after.success, output: after.output }
            }
            Node::Background(inner) => {
                let mut after = self.node(inner, worlds.clone(), &Input::default());
                self.end_shell(&mut after);
                After { failure: Vec::new(), success: worlds, output: Output::default() }
            }
            Node::Pipeline(nodes) => self.pipeline(nodes, worlds, input),
            Node::Subshell(inner) => {
                let mut after = self.node(inner, worlds.clone(), input);
                self.end_shell(&mut after);
                After { failure: worlds.clone(), success: worlds, output: after.output }
            }
            Node::Redirected(inner, redirects) => self.redirected(inner, redirects, worlds, input),
            Node::If(branches, otherwise) => self.branches(branches, otherwise, worlds, input),
            Node::While { condition, body, until } => self.repetition(condition, body, *until, worlds, input),
            Node::For { variable, words, body } => self.iteration(variable, words.as_deref(), body, worlds, input),
            Node::Count(pieces, body) => self.count(pieces, body, worlds, input),
            Node::Case { word, arms } => self.case(word, arms, worlds, input),
            Node::Function { name, body } => {
                let function = Rc::new(Function { body: (**body).clone(), origin: self.origin });
                let mut worlds = worlds;
                for world in &mut worlds {
                    world.define(name, Rc::clone(&function));
                }
                After { failure: Vec::new(), success: worlds, output: Output::default() }
            }
            Node::Test(words, span) => {
                let mut worlds = worlds;
                for world in &mut worlds {
                    self.test_words(words, *span, world);
                }
                After { failure: worlds.clone(), success: worlds, output: Output::default() }
            }
            Node::Arithmetic(pieces, span) => {
                let mut worlds = worlds;
                for world in &mut worlds {
                    self.arithmetic(pieces, *span, world);
                }
                After { failure: worlds.clone(), success: worlds, output: Output::default() }
            }
        }
    }

    fn commands(&mut self, command: &SimpleCommand, worlds: Vec<World>, input: &Input) -> After {
        let mut after = After::default();
        for world in worlds {
            if self.is_full() {
                after.success.push(world);
                continue;
            }
            let one = self.simple(command, world, input);
            self.note_forgotten(&one.success);
            self.note_forgotten(&one.failure);
            after.output = joined_output(after.output, one.output);
            after.success = self.merged(after.success, one.success);
            after.failure = self.merged(after.failure, one.failure);
        }
        after
    }

    fn sequence(&mut self, nodes: &[Node], worlds: Vec<World>, input: &Input) -> After {
        let mut after = After { success: worlds, ..After::default() };
        let mut output = Output::default();
        for (index, node) in nodes.iter().enumerate() {
            let worlds = if index == 0 { after.success } else { self.behind(after) };
            after = self.node(node, worlds, input);
            output = joined_output(output, std::mem::take(&mut after.output));
        }
        if nodes.len() > 1 {
            // The text of several commands is not put together.
            output.text = None;
        }
        After { output, ..after }
    }

    /// The states behind a command that is followed by `;`.
    fn behind(&mut self, mut after: After) -> Vec<World> {
        after.failure.retain(|world| !world.ends_on_failure);
        self.merged(after.success, after.failure)
    }

    fn chain(&mut self, first: &Node, rest: &[(Connector, Node)], worlds: Vec<World>, input: &Input) -> After {
        let mut after = self.node(first, worlds, input);
        for (connector, node) in rest {
            let output = std::mem::take(&mut after.output);
            match connector {
                Connector::And => {
                    let next = self.node(node, after.success, input);
                    let failure = self.merged(after.failure, next.failure);
                    after = After { success: next.success, failure, output: joined_output(output, next.output) };
                }
                Connector::Or => {
                    let next = self.node(node, after.failure, input);
                    let success = self.merged(after.success, next.success);
                    after = After { success, failure: next.failure, output: joined_output(output, next.output) };
                }
            }
        }
        after
    }

    fn pipeline(&mut self, nodes: &[Node], worlds: Vec<World>, input: &Input) -> After {
        let mut fed = input.clone();
        let mut output = Output::default();
        for node in nodes {
            let mut after = self.node(node, worlds.clone(), &fed);
            self.end_shell(&mut after);
            output = after.output;
            fed = Input { is_fed: true, text: output.text.clone(), net: output.net, secret: output.secret, file: None };
        }
        After { failure: worlds.clone(), success: worlds, output }
    }

    fn redirected(&mut self, inner: &Node, redirects: &[Redirect], worlds: Vec<World>, input: &Input) -> After {
        let mut input = input.clone();
        let mut is_captured = true;
        let mut worlds = worlds;
        let mut targets = Vec::new();
        for world in &mut worlds {
            let applied = self.redirects(redirects, world, &input);
            input = applied.input;
            is_captured &= !applied.leaves;
            targets.extend(applied.targets);
        }
        let mut after = self.node(inner, worlds, &input);
        self.note_written(&targets, &after.output);
        if !is_captured {
            after.output = Output::default();
        }
        after
    }

    fn branches(&mut self, branches: &[(Node, Node)], otherwise: &Node, worlds: Vec<World>, input: &Input) -> After {
        let mut result = After::default();
        let mut rest = worlds;
        for (condition, body) in branches {
            let asked = self.node(condition, rest, input);
            let taken = self.node(body, asked.success, input);
            result = self.either(result, taken);
            rest = asked.failure;
        }
        let last = self.node(otherwise, rest, input);
        self.either(result, last)
    }

    pub(crate) fn either(&mut self, left: After, right: After) -> After {
        After {
            success: self.merged(left.success, right.success),
            failure: self.merged(left.failure, right.failure),
            output: joined_output(left.output, right.output),
        }
    }

    fn repetition(&mut self, condition: &Node, body: &Node, until: bool, worlds: Vec<World>, input: &Input) -> After {
        let mut all = worlds.clone();
        let mut states = worlds;
        let mut output = Output::default();
        let mut before = Vec::new();
        // The second time finds what the first one set, and the third one stands for all others.
        for time in 1..=3 {
            if time == 3 {
                states = blurred(before.into_iter().chain(states).collect());
                all = self.merged(all, states.clone());
            }
            before = states.clone();
            let asked = self.node(condition, states, input);
            let (enter, leave) = if until { (asked.failure, asked.success) } else { (asked.success, asked.failure) };
            all = self.merged(all, leave);
            let after = self.node(body, enter, input);
            output = joined_output(output, after.output);
            let next = self.merged(after.success, after.failure);
            if next.iter().all(|world| all.contains(world)) {
                break;
            }
            all = self.merged(all, next.clone());
            states = next;
            if self.is_exhausted {
                break;
            }
        }
        After { failure: Vec::new(), success: all, output: Output { text: None, ..output } }
    }

    fn iteration(
        &mut self,
        variable: &str,
        words: Option<&[crate::syntax::Word]>,
        body: &Node,
        worlds: Vec<World>,
        input: &Input,
    ) -> After {
        let mut result = After::default();
        for mut world in worlds {
            let mut values = Vec::new();
            match words {
                Some(words) => self.all_fields(words, &mut world, |value, _| values.push(value)),
                None if world.knows_positional => values.clone_from(&world.positional),
                None => values.push(Value::unknown(self.hole(Why::UnsetVariable, Span::default()))),
            }
            let before = world.clone();
            let mut states = vec![world];
            let is_long = values.len() > MOST_VALUES;
            if is_long {
                let span = words.and_then(<[_]>::first).map_or(Span::default(), |word| self.span(word.span));
                self.unknown(Why::TooManyWords, FactSet::EVERYTHING, span);
            }
            for value in values.into_iter().take(MOST_VALUES) {
                for state in &mut states {
                    state.set(variable, Variable::Text(value.clone()));
                }
                if self.is_exhausted {
                    break;
                }
                let after = self.node(body, states, input);
                result.output = joined_output(std::mem::take(&mut result.output), after.output);
                states = self.merged(after.success, after.failure);
                if states.is_empty() {
                    break;
                }
            }
            states = self.merged(states, vec![before]);
            result.success = self.merged(std::mem::take(&mut result.success), states);
        }
        result.output.text = None;
        result
    }

    fn count(&mut self, pieces: &[Piece], body: &Node, worlds: Vec<World>, input: &Input) -> After {
        let mut worlds = worlds;
        for world in &mut worlds {
            let span = pieces.first().map_or(Span::default(), |piece| piece.span);
            self.arithmetic(pieces, span, world);
        }
        let after = self.node(body, worlds.clone(), input);
        let inner = self.merged(after.success, after.failure);
        let success = self.merged(worlds, inner);
        After { success, failure: Vec::new(), output: Output { text: None, ..after.output } }
    }

    fn case(
        &mut self,
        word: &crate::syntax::Word,
        arms: &[(Vec<crate::syntax::Word>, Node)],
        worlds: Vec<World>,
        input: &Input,
    ) -> After {
        let mut result = After::default();
        for mut world in worlds {
            self.single(&word.pieces, &mut world);
            for (patterns, body) in arms {
                for pattern in patterns {
                    self.single(&pattern.pieces, &mut world);
                }
                let after = self.node(body, vec![world.clone()], input);
                result = self.either(result, after);
            }
            result.success = self.merged(std::mem::take(&mut result.success), vec![world]);
        }
        result
    }

    /// Puts states together, and gives up what differs if there are too many.
    pub(crate) fn merged(&mut self, mut left: Vec<World>, right: Vec<World>) -> Vec<World> {
        if left.is_empty() && right.len() <= 1 {
            return right;
        }
        for world in right {
            if !left.contains(&world) {
                left.push(world);
            }
        }
        if left.len() <= MOST_STATES { left } else { blurred(left) }
    }
}

/// One state that may be any of these: what differs is not known.
fn blurred(worlds: Vec<World>) -> Vec<World> {
    let hole = Hole { why: Why::TooManyStates, span: Span::default(), net: false, secret: false };
    let mut rest = worlds.into_iter();
    let Some(mut first) = rest.next() else { return Vec::new() };
    for world in rest {
        first.blur(&world, hole);
    }
    vec![first]
}

fn as_code(letter: char) -> char {
    match letter {
        ANY | TRACKED => '*',
        ONE => '?',
        BRACKET => '[',
        other => other,
    }
}

pub(crate) fn joined_output(left: Output, right: Output) -> Output {
    let text = match (left.text, right.text) {
        (None, right) => right,
        (left, None) => left,
        (Some(_), Some(_)) => None,
    };
    Output { text, net: left.net || right.net, secret: left.secret || right.secret }
}
