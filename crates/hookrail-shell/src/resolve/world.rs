//! What a command of the line finds: folder, variables, functions.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use super::value::{Hole, Value};
use crate::syntax::{Node, Span, Word};

/// The most variables that are followed, and as many names of each other kind.
const MOST_NAMES: usize = 64;

/// What is known of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    Text(Value),
    Array(Vec<Value>),
    Unset,
}

/// Where spans of code stand in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Moved by an offset.
    At(u32),
    /// All of the code comes from one word.
    From(Span),
}

/// A function of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) body: Node,
    /// Where its body stands.
    pub(crate) origin: Origin,
}

/// One state that a shell may be in. It is shared until it changes: most commands change nothing.
#[derive(Clone, Debug, Eq)]
pub(crate) struct World(Rc<State>);

impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Deref for World {
    type Target = State;

    fn deref(&self) -> &State {
        &self.0
    }
}

impl DerefMut for World {
    fn deref_mut(&mut self) -> &mut State {
        Rc::make_mut(&mut self.0)
    }
}

impl World {
    /// A shell that has just begun, in a folder.
    pub(crate) fn new(folder: &str) -> Self {
        Self(Rc::new(State::new(folder)))
    }

    /// Keeps what a child process gets.
    pub(crate) fn child(&self) -> Self {
        Self(Rc::new(self.0.child()))
    }
}

/// What a state consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) folder: Value,
    pub(crate) last_folder: Option<Value>,
    pub(crate) folders: Vec<Value>,
    variables: Vec<(String, Variable)>,
    pub(crate) positional: Rc<Vec<Value>>,
    /// Whether the positional parameters are known.
    pub(crate) knows_positional: bool,
    /// The variables that child processes get.
    exported: Vec<String>,
    functions: Vec<(String, Rc<Function>)>,
    pub(crate) aliases: Vec<(String, String)>,
    /// Functions that `trap` calls and that were not defined yet.
    pub(crate) late_traps: Vec<(Value, Span)>,
    /// `set -e`: a failure ends the line.
    pub(crate) ends_on_failure: bool,
    /// More names were set than are followed.
    pub(crate) has_forgotten: bool,
}

impl Function {
    /// A function that may be either of two: a `case` without a word, which runs any of its arms.
    fn or(&self, other: &Self) -> Self {
        let mut arms = self.alternatives();
        add_missing(&mut arms, &other.alternatives());
        let word = Word { span: Span::default(), pieces: Vec::new() };
        Self { body: Node::Case { word, arms }, origin: self.origin }
    }

    fn alternatives(&self) -> Vec<(Vec<Word>, Node)> {
        match &self.body {
            Node::Case { word, arms } if word.pieces.is_empty() => arms.clone(),
            body => vec![(Vec::new(), body.clone())],
        }
    }
}

impl State {
    fn new(folder: &str) -> Self {
        Self {
            folder: Value::known(folder),
            last_folder: None,
            folders: Vec::new(),
            variables: Vec::new(),
            positional: Rc::default(),
            knows_positional: true,
            exported: Vec::new(),
            functions: Vec::new(),
            aliases: Vec::new(),
            late_traps: Vec::new(),
            ends_on_failure: false,
            has_forgotten: false,
        }
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    pub(crate) fn set(&mut self, name: &str, value: Variable) {
        if let Some((_, old)) = self.variables.iter_mut().find(|(other, _)| other == name) {
            *old = value;
        } else if self.variables.len() < MOST_NAMES {
            self.variables.push((name.to_owned(), value));
        } else {
            self.has_forgotten = true;
        }
    }

    pub(crate) fn function(&self, name: &str) -> Option<Rc<Function>> {
        self.functions.iter().rev().find(|(other, _)| other == name).map(|(_, body)| Rc::clone(body))
    }

    pub(crate) fn define(&mut self, name: &str, body: Rc<Function>) {
        self.functions.retain(|(other, _)| other != name);
        self.has_forgotten |= !push(&mut self.functions, (name.to_owned(), body));
    }

    pub(crate) fn alias(&mut self, name: &str, code: &str) {
        self.aliases.retain(|(other, _)| other != name);
        self.has_forgotten |= !push(&mut self.aliases, (name.to_owned(), code.to_owned()));
    }

    pub(crate) fn forget_function(&mut self, name: &str) {
        self.functions.retain(|(other, _)| other != name);
    }

    /// Gives up what differs from another state.
    pub(crate) fn blur(&mut self, other: &Self, hole: Hole) {
        if self.folder != other.folder {
            self.folder = Value::unknown(hole);
        }
        if self.last_folder != other.last_folder {
            self.last_folder = None;
        }
        if self.positional != other.positional {
            self.knows_positional = false;
        }
        for (name, value) in &other.variables {
            if self.variable(name) != Some(value) {
                self.set(name, Variable::Text(Value::unknown(hole)));
            }
        }
        for (name, value) in &mut self.variables {
            if other.variable(name) != Some(value) {
                *value = Variable::Text(Value::unknown(hole));
            }
        }
        if self.folders != other.folders {
            self.folders = vec![Value::unknown(hole); self.folders.len().max(other.folders.len())];
        }
        for (name, body) in &other.functions {
            match self.function(name) {
                Some(own) if own == *body => {}
                Some(own) => self.define(name, Rc::new(own.or(body))),
                None => self.define(name, Rc::clone(body)),
            }
        }
        add_missing(&mut self.late_traps, &other.late_traps);
        add_missing(&mut self.aliases, &other.aliases);
        add_missing(&mut self.exported, &other.exported);
        self.ends_on_failure &= other.ends_on_failure;
        self.has_forgotten |= other.has_forgotten;
    }

    /// Keeps what a child process gets.
    fn child(&self) -> Self {
        let mut child = Self::new(&self.folder.text);
        child.folder = self.folder.clone();
        child.has_forgotten = self.has_forgotten;
        for (name, value) in &self.variables {
            if self.exported.contains(name) {
                child.variables.push((name.clone(), value.clone()));
            }
        }
        child.exported.clone_from(&self.exported);
        child
    }

    pub(crate) fn export(&mut self, name: &str) {
        if !self.exported.iter().any(|other| other == name) {
            self.has_forgotten |= !push(&mut self.exported, name.to_owned());
        }
    }

    /// Gives a variable the value that it has in another state.
    pub(crate) fn copy_variable(&mut self, name: &str, from: &Self) {
        self.variables.retain(|(other, _)| other != name);
        if let Some(value) = from.variable(name) {
            self.variables.push((name.to_owned(), value.clone()));
        }
        if !from.exported.iter().any(|other| other == name) {
            self.exported.retain(|other| other != name);
        }
    }
}

/// Adds a name, if there is room for it.
fn push<T>(list: &mut Vec<T>, item: T) -> bool {
    let has_room = list.len() < MOST_NAMES;
    if has_room {
        list.push(item);
    }
    has_room
}

fn add_missing<T: Clone + PartialEq>(list: &mut Vec<T>, other: &[T]) {
    for item in other {
        if !list.contains(item) {
            list.push(item.clone());
        }
    }
}
