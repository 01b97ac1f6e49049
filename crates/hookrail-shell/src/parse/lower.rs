//! Makes nodes of the grammar's tree.
//!
//! The grammar binds `&&` closer than `|`, and a redirection to a whole list. So lists, pipelines and redirections are
//! read as a flat run of operands and operators, and bound here as the shell does.

use tree_sitter::{Node as Tree, TreeCursor};

use super::kind::{Kind, kind_of};
use super::leaf::LeafReader;
use crate::syntax::Span;
use crate::syntax::{Connector, Fault, FaultKind, Node};

/// How deep structures may stand in each other.
const DEEPEST_STRUCTURE: u32 = 64;

pub(super) struct Lowering<'r, 't, 's> {
    pub(super) reader: &'r mut LeafReader<'t>,
    pub(super) masked: &'r [u8],
    pub(super) faults: Vec<Fault>,
    /// Making one for each node takes as long as reading it.
    pub(super) cursor: TreeCursor<'s>,
}

/// A part of a run of operands and operators.
enum Item {
    /// A simple command and where it stands.
    Leaf(usize, usize),
    /// A structure, where it ends, and where its redirections end.
    Structure(Node, usize, usize),
    And,
    Or,
    Pipe,
    Not,
}

impl<'s> Lowering<'_, '_, 's> {
    fn fault(&mut self, kind: FaultKind, tree: Tree<'s>) {
        self.faults.push(Fault { kind, span: Span::new(tree.start_byte(), tree.end_byte()) });
    }

    fn children(&mut self, tree: Tree<'s>) -> Vec<Tree<'s>> {
        tree.children(&mut self.cursor).collect()
    }

    /// The group that is all of a group.
    fn only_group(&mut self, tree: Tree<'s>) -> Option<Tree<'s>> {
        let children = self.children(tree);
        let is_whole = children.iter().all(|child| !child.is_missing() && !child.is_error());
        let mut named = children.into_iter().filter(|child| child.is_named());
        let only = named.next().filter(|child| is_whole && kind_of(*child) == Kind::CompoundStatement)?;
        named.next().is_none().then_some(only)
    }

    /// Reads the statements among the children of a node.
    pub(super) fn statements(&mut self, tree: Tree<'s>, depth: u32) -> Node {
        if tree.is_error() || tree.is_missing() {
            self.fault(FaultKind::Syntax, tree);
        }
        let children = self.children(tree);
        self.sequence(&children, depth)
    }

    fn sequence(&mut self, children: &[Tree<'s>], depth: u32) -> Node {
        let mut nodes: Vec<Node> = Vec::new();
        for child in children {
            match kind_of(*child) {
                Kind::Ampersand => {
                    if let Some(last) = nodes.pop() {
                        nodes.push(Node::Background(Box::new(last)));
                    }
                }
                Kind::Semicolon | Kind::DoubleSemicolon | Kind::Comment => {}
                _ if child.is_missing() => self.fault(FaultKind::Syntax, *child),
                _ if child.is_error() => {
                    self.fault(FaultKind::Syntax, *child);
                    if depth < DEEPEST_STRUCTURE {
                        nodes.push(self.statements(*child, depth + 1));
                    }
                }
                _ if child.is_named() && is_statement(kind_of(*child)) => nodes.push(self.statement(*child, depth + 1)),
                _ => self.fault(FaultKind::Syntax, *child),
            }
        }
        match nodes.pop() {
            None => Node::Nothing,
            Some(only) if nodes.is_empty() => only,
            Some(last) => {
                nodes.push(last);
                Node::Sequence(nodes)
            }
        }
    }

    fn statement(&mut self, tree: Tree<'s>, depth: u32) -> Node {
        if depth > DEEPEST_STRUCTURE {
            self.fault(FaultKind::TooDeep, tree);
            return Node::Nothing;
        }
        if is_simple(kind_of(tree)) && !tree.has_error() {
            return self.reader.leaf(tree.start_byte(), tree.end_byte());
        }
        let mut items = Vec::new();
        self.run(tree, depth, &mut items);
        self.bind(items)
    }

    /// Adds the operands and operators of lists, pipelines and redirections, in the order of the text.
    fn run(&mut self, tree: Tree<'s>, depth: u32, items: &mut Vec<Item>) {
        let mut rest = vec![tree];
        while let Some(tree) = rest.pop() {
            match kind_of(tree) {
                Kind::List | Kind::Pipeline | Kind::RedirectedStatement | Kind::NegatedCommand => {
                    let mut inner = self.children(tree);
                    let begins_with_redirect = inner.first().is_some_and(|first| is_redirect(kind_of(*first)));
                    if kind_of(tree) == Kind::RedirectedStatement && begins_with_redirect {
                        items.push(Item::Leaf(tree.start_byte(), tree.end_byte()));
                        continue;
                    }
                    inner.reverse();
                    rest.append(&mut inner);
                }
                Kind::And => items.push(Item::And),
                Kind::Or => items.push(Item::Or),
                Kind::Pipe | Kind::PipeBoth => items.push(Item::Pipe),
                Kind::Not => items.push(Item::Not),
                Kind::Comment => {}
                kind if is_redirect(kind) => match items.last_mut() {
                    Some(Item::Leaf(_, end) | Item::Structure(_, _, end)) => *end = tree.end_byte(),
                    _ => items.push(Item::Leaf(tree.start_byte(), tree.end_byte())),
                },
                kind if is_simple(kind) => {
                    if tree.has_error() {
                        self.fault(FaultKind::Syntax, tree);
                    }
                    items.push(Item::Leaf(tree.start_byte(), tree.end_byte()));
                }
                _ if tree.is_error() || tree.is_missing() => {
                    self.fault(FaultKind::Syntax, tree);
                    if depth < DEEPEST_STRUCTURE {
                        let node = self.statements(tree, depth + 1);
                        items.push(Item::Structure(node, tree.end_byte(), tree.end_byte()));
                    }
                }
                _ => {
                    let node = self.structure(tree, depth);
                    items.push(Item::Structure(node, tree.end_byte(), tree.end_byte()));
                }
            }
        }
    }

    /// Binds a run: `!` and `|` closest, then `&&` and `||` from the left.
    fn bind(&mut self, items: Vec<Item>) -> Node {
        let mut first: Option<Node> = None;
        let mut rest: Vec<(Connector, Node)> = Vec::new();
        let mut connector = None;
        let mut members: Vec<Node> = Vec::new();
        let mut negated = false;
        for item in items {
            match item {
                Item::Leaf(start, end) => {
                    let node = self.reader.leaf(start, end);
                    members.push(node);
                }
                Item::Structure(node, inner_end, end) if end > inner_end => {
                    let redirects = self.reader.redirects(inner_end, end);
                    members.push(Node::Redirected(Box::new(node), redirects));
                }
                Item::Structure(node, _, _) => members.push(node),
                Item::Pipe => {}
                Item::Not => negated = !negated,
                Item::And | Item::Or => {
                    let node = pipeline(&mut members, &mut negated);
                    join(&mut first, &mut rest, connector, node);
                    connector = Some(if matches!(item, Item::And) { Connector::And } else { Connector::Or });
                }
            }
        }
        let node = pipeline(&mut members, &mut negated);
        join(&mut first, &mut rest, connector, node);
        match first {
            None => Node::Nothing,
            Some(first) if rest.is_empty() => first,
            Some(first) => Node::Chain(Box::new(first), rest),
        }
    }

    fn structure(&mut self, tree: Tree<'s>, depth: u32) -> Node {
        match kind_of(tree) {
            Kind::Subshell => Node::Subshell(Box::new(self.inside(tree, &[Kind::Open, Kind::Close], depth))),
            Kind::CompoundStatement => {
                // Groups around one group mean what it does, however many they are.
                let mut tree = tree;
                while let Some(inner) = self.only_group(tree) {
                    tree = inner;
                }
                self.inside(tree, &[Kind::OpenBrace, Kind::CloseBrace], depth)
            }
            Kind::DoGroup => self.inside(tree, &[Kind::Do, Kind::Done], depth),
            Kind::IfStatement => self.condition(tree, depth),
            Kind::WhileStatement => self.repetition(tree, depth),
            Kind::ForStatement => self.iteration(tree, depth),
            Kind::CStyleForStatement => self.iteration_in_braces(tree, depth),
            Kind::CaseStatement => self.case(tree, depth),
            Kind::FunctionDefinition => self.function(tree, depth),
            _ => {
                self.fault(FaultKind::Syntax, tree);
                Node::Nothing
            }
        }
    }

    fn inside(&mut self, tree: Tree<'s>, brackets: &[Kind], depth: u32) -> Node {
        let mut inner = self.children(tree);
        for child in &inner {
            if child.is_missing() {
                self.fault(FaultKind::Syntax, *child);
            }
        }
        inner.retain(|child| !is_mark(*child, brackets));
        self.sequence(&inner, depth)
    }

    fn condition(&mut self, tree: Tree<'s>, depth: u32) -> Node {
        let mut branches = Vec::new();
        let mut otherwise = Node::Nothing;
        let mut before: Vec<Tree<'s>> = Vec::new();
        let mut condition = None;
        for child in self.children(tree) {
            match kind_of(child) {
                Kind::If | Kind::Fi if !child.is_named() && !child.is_missing() => {}
                Kind::Then if !child.is_named() => condition = Some(self.sequence(&std::mem::take(&mut before), depth)),
                Kind::ElifClause | Kind::ElseClause => {
                    if let Some(condition) = condition.take() {
                        branches.push((condition, self.sequence(&std::mem::take(&mut before), depth)));
                    }
                    if kind_of(child) == Kind::ElseClause {
                        otherwise = self.inside(child, &[Kind::Else], depth);
                    } else {
                        branches.push(self.elif(child, depth));
                    }
                }
                _ => before.push(child),
            }
        }
        let last = self.sequence(&before, depth);
        match condition {
            Some(condition) => branches.push((condition, last)),
            None if last != Node::Nothing => self.fault(FaultKind::Syntax, tree),
            None => {}
        }
        Node::If(branches, Box::new(otherwise))
    }

    fn elif(&mut self, tree: Tree<'s>, depth: u32) -> (Node, Node) {
        let mut before: Vec<Tree<'s>> = Vec::new();
        let mut condition = Node::Nothing;
        for child in self.children(tree) {
            match kind_of(child) {
                Kind::Elif if !child.is_named() => {}
                Kind::Then if !child.is_named() => condition = self.sequence(&std::mem::take(&mut before), depth),
                _ => before.push(child),
            }
        }
        (condition, self.sequence(&before, depth))
    }

    fn repetition(&mut self, tree: Tree<'s>, depth: u32) -> Node {
        let mut until = false;
        let mut before = Vec::new();
        let mut body = Node::Nothing;
        for child in self.children(tree) {
            match kind_of(child) {
                Kind::While if !child.is_named() => {}
                Kind::Until if !child.is_named() => until = true,
                Kind::DoGroup => body = self.inside(child, &[Kind::Do, Kind::Done], depth),
                _ => before.push(child),
            }
        }
        Node::While { condition: Box::new(self.sequence(&before, depth)), body: Box::new(body), until }
    }

    fn iteration(&mut self, tree: Tree<'s>, depth: u32) -> Node {
        let mut body = Node::Nothing;
        let mut variable = None;
        let mut range: Option<(usize, usize)> = None;
        for child in self.children(tree) {
            match kind_of(child) {
                Kind::For | Kind::Select | Kind::In | Kind::Semicolon | Kind::Comment
                    if !child.is_named() || kind_of(child) == Kind::Comment =>
                {
                    if child.is_missing() {
                        self.fault(FaultKind::Syntax, child);
                    }
                }
                Kind::DoGroup | Kind::CompoundStatement => body = self.structure(child, depth),
                _ if child.is_error() || child.is_missing() => self.fault(FaultKind::Syntax, child),
                Kind::VariableName if variable.is_none() => variable = Some((child.start_byte(), child.end_byte())),
                _ => {
                    let start = range.map_or(child.start_byte(), |(start, _)| start);
                    range = Some((start, child.end_byte()));
                }
            }
        }
        let Some((start, end)) = variable else {
            self.fault(FaultKind::Syntax, tree);
            return body;
        };
        let text = self.reader.text;
        if text.get(start..).is_some_and(|rest| rest.starts_with("((")) {
            let close = range.map_or(end, |(_, end)| end).saturating_sub(2);
            return Node::Count(self.reader.expression(start + 2, close), Box::new(body));
        }
        let variable = text.get(start..end).unwrap_or_default().to_owned();
        let has_list =
            self.masked.get(end..tree.end_byte()).is_some_and(|rest| rest.trim_ascii_start().starts_with(b"in"));
        let words = match range {
            Some((start, end)) => Some(self.reader.words(start, end)),
            None => has_list.then(Vec::new),
        };
        Node::For { variable, words, body: Box::new(body) }
    }

    /// A loop over words whose body stands in braces. The grammar got a head without words.
    fn iteration_in_braces(&mut self, tree: Tree<'s>, depth: u32) -> Node {
        let body = self.children(tree).into_iter().find(|child| kind_of(*child) == Kind::CompoundStatement);
        let Some(body) = body else {
            self.fault(FaultKind::Syntax, tree);
            return Node::Nothing;
        };
        let (start, end) = (tree.start_byte() + "for".len(), body.start_byte());
        let mut words = self.reader.words(start, end).into_iter();
        let variable = words.next().and_then(|word| word.literal().map(|name| name.into_owned()));
        let is_in = words.next().is_some_and(|word| word.literal().as_deref() == Some("in"));
        let body = self.structure(body, depth);
        match variable {
            Some(variable) if is_in => Node::For { variable, words: Some(words.collect()), body: Box::new(body) },
            _ => {
                self.fault(FaultKind::Syntax, tree);
                body
            }
        }
    }

    fn case(&mut self, tree: Tree<'s>, depth: u32) -> Node {
        let mut word = None;
        let mut arms = Vec::new();
        for child in self.children(tree) {
            match kind_of(child) {
                Kind::CaseItem => arms.push(self.arm(child, depth)),
                _ if child.is_missing() || child.is_error() => self.fault(FaultKind::Syntax, child),
                _ if child.is_named() && kind_of(child) != Kind::Comment && word.is_none() => {
                    word = self.reader.words(child.start_byte(), child.end_byte()).into_iter().next();
                }
                _ if child.is_named() && kind_of(child) != Kind::Comment => self.fault(FaultKind::Syntax, child),
                _ => {}
            }
        }
        match word {
            Some(word) => Node::Case { word, arms },
            None => {
                self.fault(FaultKind::Syntax, tree);
                Node::Sequence(arms.into_iter().map(|(_, body)| body).collect())
            }
        }
    }

    fn arm(&mut self, tree: Tree<'s>, depth: u32) -> (Vec<crate::syntax::Word>, Node) {
        let mut patterns = Vec::new();
        let mut body = Vec::new();
        let mut in_body = false;
        for child in self.children(tree) {
            match kind_of(child) {
                Kind::Close if !in_body => in_body = true,
                Kind::Open | Kind::Pipe if !in_body => {}
                Kind::DoubleSemicolon | Kind::SemicolonAmpersand | Kind::DoubleSemicolonAmpersand => {}
                _ if in_body => body.push(child),
                _ if child.is_missing() || child.is_error() => self.fault(FaultKind::Syntax, child),
                _ => patterns.extend(self.reader.words(child.start_byte(), child.end_byte())),
            }
        }
        let body = self.sequence(&body, depth);
        (patterns, body)
    }

    fn function(&mut self, tree: Tree<'s>, depth: u32) -> Node {
        let mut name = None;
        let mut body = Node::Nothing;
        let mut redirects = None;
        for child in self.children(tree) {
            match kind_of(child) {
                Kind::Function | Kind::Open | Kind::Close | Kind::Comment if !child.is_missing() => {}
                _ if child.is_missing() || child.is_error() => self.fault(FaultKind::Syntax, child),
                Kind::Word if name.is_none() => name = self.reader.text.get(child.byte_range()).map(str::to_owned),
                kind if is_redirect(kind) => redirects = Some(child.byte_range()),
                _ => body = self.structure(child, depth),
            }
        }
        if let Some(range) = redirects {
            let redirects = self.reader.redirects(range.start, range.end);
            body = Node::Redirected(Box::new(body), redirects);
        }
        match name {
            Some(name) => Node::Function { name, body: Box::new(body) },
            None => {
                self.fault(FaultKind::Syntax, tree);
                body
            }
        }
    }
}

fn is_mark(tree: Tree<'_>, marks: &[Kind]) -> bool {
    !tree.is_named() && marks.contains(&kind_of(tree))
}

fn is_simple(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Command
            | Kind::DeclarationCommand
            | Kind::UnsetCommand
            | Kind::TestCommand
            | Kind::VariableAssignment
            | Kind::VariableAssignments
    )
}

fn is_redirect(kind: Kind) -> bool {
    matches!(kind, Kind::FileRedirect | Kind::HeredocRedirect | Kind::HerestringRedirect)
}

fn is_statement(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::RedirectedStatement
            | Kind::VariableAssignment
            | Kind::VariableAssignments
            | Kind::Command
            | Kind::DeclarationCommand
            | Kind::UnsetCommand
            | Kind::TestCommand
            | Kind::NegatedCommand
            | Kind::ForStatement
            | Kind::CStyleForStatement
            | Kind::WhileStatement
            | Kind::IfStatement
            | Kind::CaseStatement
            | Kind::Pipeline
            | Kind::List
            | Kind::CompoundStatement
            | Kind::FunctionDefinition
            | Kind::Subshell
    )
}

fn pipeline(members: &mut Vec<Node>, negated: &mut bool) -> Node {
    let mut members = std::mem::take(members);
    let node = if members.len() > 1 { Node::Pipeline(members) } else { members.pop().unwrap_or(Node::Nothing) };
    if std::mem::take(negated) { Node::Not(Box::new(node)) } else { node }
}

fn join(first: &mut Option<Node>, rest: &mut Vec<(Connector, Node)>, connector: Option<Connector>, node: Node) {
    match connector {
        Some(connector) if first.is_some() => rest.push((connector, node)),
        _ => *first = Some(node),
    }
}
