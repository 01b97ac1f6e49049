//! Handlers of events: whether they are functions, for which event, what they read and what they return.

use hookrail::module::result_members;
use hookrail::sources::nearest;
use hookrail::{DialectId, EventKind};
use oxc_ast::AstKind;
use oxc_ast::ast::{BindingPattern, CallExpression, Expression, ObjectExpression, ObjectPropertyKind};
use oxc_semantic::NodeId;
use oxc_span::{GetSpan as _, Span};

use super::{Factory, FunctionNode, Look};
use crate::source::mistakes::MistakeKind;
use crate::types::event_members;

/// What hooks of other kinds call the members of an event.
const FIELDS_ELSEWHERE: [(&str, &str); 10] = [
    ("tool", "toolName"),
    ("name", "toolName"),
    ("args", "input"),
    ("arguments", "input"),
    ("params", "input"),
    ("parameters", "input"),
    ("tool_input", "input"),
    ("toolInput", "input"),
    ("output", "content"),
    ("tool_response", "content"),
];

impl<'a> Look<'_, 'a> {
    /// Looks at `pi.on(event, handler)`.
    pub(super) fn registration(&mut self, call: &'a CallExpression<'a>) {
        let arguments: Option<Vec<&'a Expression<'a>>> =
            call.arguments.iter().map(|argument| argument.as_expression()).collect();
        let Some(arguments) = arguments else { return };
        let name = arguments.first().and_then(|event| match event.get_inner_expression() {
            Expression::StringLiteral(text) => Some(text.value.as_str()),
            _ => None,
        });
        let handler = arguments.get(1).map(|handler| self.value_of(handler, 0));
        let shown = name.unwrap_or("…");
        let form = format!("write `pi.on(\"{shown}\", (event) => {{ … }})`");
        match &handler {
            None => {
                let message = format!("calls `pi.on(\"{shown}\")` without a handler");
                self.report(MistakeKind::Registration, call.span, message, form);
            }
            Some(Factory::NotCallable(span)) => {
                let message = format!("has a handler for `{shown}` that is no function");
                self.report(MistakeKind::Registration, *span, message, form);
            }
            Some(Factory::Function(_) | Factory::Unknown) => {}
        }
        let Some(name) = name else { return };
        let columns = || EventKind::all().filter_map(|kind| Some((kind, kind.spec().column(DialectId::Xcsh)?.name)));
        let Some((kind, _)) = columns().find(|(_, known)| *known == name) else {
            let hint = match nearest(name, columns().map(|(_, known)| known)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "`hookrail reference events` lists the events".to_owned(),
            };
            let at = arguments.first().map_or(call.span, |event| event.span());
            let message = format!("has a handler for `{name}`, which is not an event");
            return self.report(MistakeKind::Event { name: name.to_owned() }, at, message, hint);
        };
        if let Some(Factory::Function(function)) = handler {
            self.event_reads(kind, name, function);
            self.results(kind, name, function);
        }
    }

    /// Looks at the members of the event that a handler reads: what is not there is undefined, and a test of it never true.
    fn event_reads(&mut self, kind: EventKind, event: &str, handler: FunctionNode<'a>) {
        let mut reads: Vec<(String, Span)> = Vec::new();
        match handler.parameters.items.first().map(|parameter| &parameter.pattern) {
            Some(BindingPattern::BindingIdentifier(name)) => {
                let Some(symbol) = name.symbol_id.get() else { return };
                for reference in self.semantic.symbol_references(symbol) {
                    if let AstKind::StaticMemberExpression(member) =
                        self.semantic.nodes().parent_kind(reference.node_id())
                        && member.object.span() == self.semantic.nodes().kind(reference.node_id()).span()
                    {
                        reads.push((member.property.name.to_string(), member.property.span));
                    }
                }
            }
            Some(BindingPattern::ObjectPattern(object)) => {
                let names = object.properties.iter();
                reads.extend(names.filter_map(|one| Some((one.key.static_name()?.into_owned(), one.key.span()))));
            }
            Some(BindingPattern::ArrayPattern(_) | BindingPattern::AssignmentPattern(_)) | None => {}
        }
        let known = event_members(kind);
        for (name, span) in reads.into_iter().filter(|(name, _)| !known.contains(name)) {
            let is_there = |meant: &&str| known.iter().any(|known| known == *meant);
            let other = FIELDS_ELSEWHERE.iter().find(|(other, _)| *other == name).map(|(_, meant)| *meant);
            let meant = other.filter(is_there).or_else(|| nearest(&name, known.iter().map(String::as_str)));
            // A name that is like no other may be a method of every object, or something that the module put there.
            let Some(meant) = meant else { continue };
            let message = format!("reads `{name}` of a `{event}` event, which has no such member");
            let hint = format!("write `{meant}`");
            self.report(MistakeKind::Api, span, message, hint);
        }
    }

    /// Looks at what a handler returns: an object none of whose members has a meaning has no effect.
    fn results(&mut self, kind: EventKind, event: &str, handler: FunctionNode<'a>) {
        let known = result_members(kind);
        if known.is_empty() {
            return;
        }
        let mut values: Vec<&'a Expression<'a>> = Vec::from_iter(handler.value);
        for node in self.semantic.nodes().iter() {
            if let AstKind::ReturnStatement(statement) = node.kind()
                && self.function_around(node.id()) == Some(handler.node)
            {
                values.extend(&statement.argument);
            }
        }
        let mut objects = Vec::new();
        let mut literals: Vec<(Span, String)> = Vec::new();
        while let Some(value) = values.pop() {
            match value.get_inner_expression() {
                Expression::BooleanLiteral(flag) => literals.push((flag.span, flag.value.to_string())),
                Expression::StringLiteral(text) => literals.push((text.span, "a string".to_owned())),
                Expression::ObjectExpression(object) => objects.push(&**object),
                Expression::ConditionalExpression(choice) => values.extend([&choice.consequent, &choice.alternate]),
                Expression::LogicalExpression(logical) => values.push(&logical.right),
                _ => {}
            }
        }
        let hint = if known.contains(&"block") {
            "return `{ block: true, reason: \"…\" }` to block the tool".to_owned()
        } else {
            let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            format!("a `{event}` handler can return {}", known.join(", "))
        };
        for (span, shown) in literals {
            let message = format!("returns {shown} for `{event}`, which means nothing there");
            self.report(MistakeKind::Result, span, message, hint.clone());
        }
        for object in objects {
            let Some(names) = names_of(object).filter(|names| !names.is_empty()) else { continue };
            if names.iter().any(|name| known.contains(&name.as_str())) {
                continue;
            }
            let shown: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let message = format!("returns {} for `{event}`, which means nothing there", shown.join(", "));
            self.report(MistakeKind::Result, object.span, message, hint.clone());
        }
    }

    /// The function in which a node is.
    fn function_around(&self, node: NodeId) -> Option<NodeId> {
        let mut around = self.semantic.nodes().ancestors(node);
        around
            .find(|node| matches!(node.kind(), AstKind::Function(_) | AstKind::ArrowFunctionExpression(_)))
            .map(|node| node.id())
    }
}

/// The names of an object's members; none if it may have others.
fn names_of(object: &ObjectExpression<'_>) -> Option<Vec<String>> {
    let name = |property: &ObjectPropertyKind<'_>| match property {
        ObjectPropertyKind::ObjectProperty(property) => property.key.static_name().map(std::borrow::Cow::into_owned),
        ObjectPropertyKind::SpreadProperty(_) => None,
    };
    object.properties.iter().map(name).collect()
}
