//! What a line consists of: commands and how they follow each other.

use super::fault::Fault;
use super::word::{Operation, Piece, PieceKind, Span, Substitution, Word};

/// A line, or code in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellScript {
    /// What it consists of.
    pub root: Node,
    /// What is not understood.
    pub(crate) faults: Vec<Fault>,
    /// Where its text begins in the text that was parsed. `None` for code whose characters stand elsewhere in another form.
    pub(crate) base: Option<u32>,
}

/// A command, or several in a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Nothing.
    Nothing,
    /// A simple command.
    Command(Box<SimpleCommand>),
    /// One after the other.
    Sequence(Vec<Node>),
    /// `a && b || c`: the first one, and the others with what stands before them.
    Chain(Box<Node>, Vec<(Connector, Node)>),
    /// `! a`.
    Not(Box<Node>),
    /// `a &`.
    Background(Box<Node>),
    /// `a | b`.
    Pipeline(Vec<Node>),
    /// `( a )`.
    Subshell(Box<Node>),
    /// A structure with redirections.
    Redirected(Box<Node>, Vec<Redirect>),
    /// `if`: conditions with what they lead to, and what else happens.
    If(Vec<(Node, Node)>, Box<Node>),
    /// `while` and `until`.
    While {
        /// What is asked each time.
        condition: Box<Node>,
        /// What is repeated.
        body: Box<Node>,
        /// Whether it is repeated while the condition fails.
        until: bool,
    },
    /// `for` and `select`.
    For {
        /// The variable.
        variable: String,
        /// Its values; the positional parameters if there are none.
        words: Option<Vec<Word>>,
        /// What is repeated.
        body: Box<Node>,
    },
    /// `for ((…))`: what is evaluated, and what is repeated.
    Count(Vec<Piece>, Box<Node>),
    /// `case`.
    Case {
        /// What is compared.
        word: Word,
        /// Patterns with what they lead to.
        arms: Vec<(Vec<Word>, Node)>,
    },
    /// A definition of a function.
    Function {
        /// Its name.
        name: String,
        /// What a call runs.
        body: Box<Node>,
    },
    /// `[[ … ]]`.
    Test(Vec<Word>, Span),
    /// `(( … ))`.
    Arithmetic(Vec<Piece>, Span),
}

/// When a command of a chain runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connector {
    /// `&&`: after success.
    And,
    /// `||`: after failure.
    Or,
}

/// A command with its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Where it stands.
    pub span: Span,
    /// The assignments before its words.
    pub assignments: Vec<Assignment>,
    /// Its words; the first one is the program.
    pub words: Vec<Word>,
    /// Its redirections.
    pub redirects: Vec<Redirect>,
}

/// An assignment: `x=1`, `x+=1`, `x[0]=1`, `x=(1 2)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Where it stands.
    pub span: Span,
    /// The variable.
    pub name: String,
    /// The index in brackets.
    pub subscript: Option<Vec<Piece>>,
    /// Whether the value is added to the old one.
    pub appends: bool,
    /// The value.
    pub value: AssignedValue,
}

/// The value of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignedValue {
    /// One word.
    Word(Word),
    /// An array.
    Array(Vec<Word>),
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Where it stands.
    pub span: Span,
    /// The number of the file before the operator.
    pub descriptor: Option<u32>,
    /// The operator.
    pub operator: RedirectOperator,
    /// Where to.
    pub target: RedirectTarget,
}

/// The operator of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectOperator {
    /// `<`.
    Read,
    /// `>`, `>|`, `&>`.
    Write,
    /// `>>`, `&>>`.
    Append,
    /// `<>`.
    ReadWrite,
    /// `<&`, `>&`.
    Duplicate,
    /// `<<<`.
    HereString,
    /// `<<`, `<<-`.
    HereDocument,
}

/// Where a redirection leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectTarget {
    /// A word: a file, a number, or text.
    Word(Word),
    /// A here-document.
    HereDocument(HereDocument),
}

/// The text of a here-document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HereDocument {
    /// Whether parameters and substitutions are expanded in it.
    pub expands: bool,
    /// The text as one word.
    pub word: Word,
}

impl ShellScript {
    /// Returns what is not understood, nested code included.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = self.faults.clone();
        for script in self.nested() {
            let place = |span: Span| script.base.map_or(span, |base| span.shifted(base));
            faults.extend(script.faults.iter().map(|fault| Fault { span: place(fault.span), ..*fault }));
        }
        faults
    }

    /// Returns the simple commands, those of nested code included.
    #[must_use]
    pub fn commands(&self) -> Vec<&SimpleCommand> {
        let mut found = Vec::new();
        let mut nodes = vec![&self.root];
        let mut words: Vec<&Word> = Vec::new();
        while let Some(node) = nodes.pop() {
            if let Node::Command(command) = node {
                found.push(&**command);
            }
            node.parts(&mut nodes, &mut words);
            let mut pieces: Vec<&Piece> = words.drain(..).flat_map(|word| &word.pieces).collect();
            pieces.extend(node.loose_pieces());
            while let Some(piece) = pieces.pop() {
                if let Some(script) = piece.code().and_then(|code| code.script.as_deref()) {
                    nodes.push(&script.root);
                }
                piece.inner(&mut pieces);
            }
        }
        found
    }

    /// Returns the scripts of substitutions in this one, at every depth.
    fn nested(&self) -> Vec<&ShellScript> {
        let mut found: Vec<&ShellScript> = Vec::new();
        let mut nodes = vec![&self.root];
        let mut words: Vec<&Word> = Vec::new();
        while let Some(node) = nodes.pop() {
            node.parts(&mut nodes, &mut words);
            let mut pieces: Vec<&Piece> = words.drain(..).flat_map(|word| &word.pieces).collect();
            pieces.extend(node.loose_pieces());
            while let Some(piece) = pieces.pop() {
                if let Some(script) = piece.code().and_then(|code| code.script.as_deref()) {
                    found.push(script);
                    nodes.push(&script.root);
                }
                piece.inner(&mut pieces);
            }
        }
        found
    }
}

impl Node {
    /// Adds the nodes and words that this node directly consists of.
    fn parts<'s>(&'s self, nodes: &mut Vec<&'s Node>, words: &mut Vec<&'s Word>) {
        match self {
            Self::Nothing | Self::Arithmetic(..) => {}
            Self::Command(command) => command.parts(words),
            Self::Sequence(inner) | Self::Pipeline(inner) => nodes.extend(inner),
            Self::Chain(first, rest) => {
                nodes.push(first);
                nodes.extend(rest.iter().map(|(_, node)| node));
            }
            Self::Not(inner) | Self::Background(inner) | Self::Subshell(inner) | Self::Count(_, inner) => {
                nodes.push(inner);
            }
            Self::Redirected(inner, redirects) => {
                nodes.push(inner);
                words.extend(redirects.iter().map(Redirect::word));
            }
            Self::If(branches, otherwise) => {
                nodes.extend(branches.iter().flat_map(|(condition, body)| [condition, body]));
                nodes.push(otherwise);
            }
            Self::While { condition, body, .. } => nodes.extend([&**condition, &**body]),
            Self::For { words: values, body, .. } => {
                words.extend(values.iter().flatten());
                nodes.push(body);
            }
            Self::Case { word, arms } => {
                words.push(word);
                words.extend(arms.iter().flat_map(|(patterns, _)| patterns));
                nodes.extend(arms.iter().map(|(_, body)| body));
            }
            Self::Function { body, .. } => nodes.push(body),
            Self::Test(inner, _) => words.extend(inner),
        }
    }

    fn loose_pieces(&self) -> &[Piece] {
        match self {
            Self::Arithmetic(pieces, _) | Self::Count(pieces, _) => pieces,
            _ => &[],
        }
    }
}

impl SimpleCommand {
    fn parts<'s>(&'s self, words: &mut Vec<&'s Word>) {
        words.extend(&self.words);
        words.extend(self.redirects.iter().map(Redirect::word));
        for assignment in &self.assignments {
            match &assignment.value {
                AssignedValue::Word(word) => words.push(word),
                AssignedValue::Array(inner) => words.extend(inner),
            }
        }
    }
}

impl Redirect {
    /// Returns the word of the target, or the text of the here-document.
    #[must_use]
    pub fn word(&self) -> &Word {
        match &self.target {
            RedirectTarget::Word(word) | RedirectTarget::HereDocument(HereDocument { word, .. }) => word,
        }
    }
}

impl Piece {
    pub(crate) fn code(&self) -> Option<&Substitution> {
        match &self.kind {
            PieceKind::Command(code) | PieceKind::Process { code, .. } => Some(code),
            PieceKind::Text(_)
            | PieceKind::Parameter(_)
            | PieceKind::Arithmetic(_)
            | PieceKind::Glob(_)
            | PieceKind::Tilde(_)
            | PieceKind::Brace(_)
            | PieceKind::Sequence(_) => None,
        }
    }

    /// Adds the pieces that stand in this one.
    fn inner<'s>(&'s self, pieces: &mut Vec<&'s Piece>) {
        match &self.kind {
            PieceKind::Arithmetic(inner) => pieces.extend(inner),
            PieceKind::Brace(alternatives) => pieces.extend(alternatives.iter().flatten()),
            PieceKind::Parameter(parameter) => {
                pieces.extend(parameter.subscript.iter().flatten());
                match &parameter.operation {
                    Operation::Default(inner)
                    | Operation::Assign(inner)
                    | Operation::Alternative(inner)
                    | Operation::Require(inner)
                    | Operation::Remove { pattern: inner, .. } => pieces.extend(inner),
                    Operation::Replace { pattern, with, .. } => pieces.extend(pattern.iter().chain(with)),
                    Operation::Substring { from, length } => pieces.extend(from.iter().chain(length.iter().flatten())),
                    Operation::Value
                    | Operation::Length
                    | Operation::Indirect
                    | Operation::Case { .. }
                    | Operation::Transform(_)
                    | Operation::Other => {}
                }
            }
            PieceKind::Text(_)
            | PieceKind::Command(_)
            | PieceKind::Process { .. }
            | PieceKind::Glob(_)
            | PieceKind::Tilde(_)
            | PieceKind::Sequence(_) => {}
        }
    }
}
