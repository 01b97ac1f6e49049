//! How the text of a hook file uses the API of modules: the function that it exports, the members of `pi`, the names of
//! events, and what handlers return.
//!
//! Only what is certain is reported. A value that comes from elsewhere, a computed name and a member whose presence the
//! module tests are left alone.

use std::path::Path;

use hookrail::module::result_members;
use hookrail::sources::nearest;
use hookrail::{DialectId, EventKind};
use oxc::allocator::Allocator;
use oxc::ast::AstKind;
use oxc::ast::ast::{
    ArrowFunctionBody, BindingPattern, CallExpression, ExportDefaultDeclarationKind, Expression, FormalParameters,
    IdentifierReference, ModuleExportName, ObjectExpression, ObjectPattern, ObjectPropertyKind,
};
use oxc::parser::Parser;
use oxc::semantic::{NodeId, Semantic, SemanticBuilder, SymbolId};
use oxc::span::{GetSpan as _, SourceType, Span};

use super::mistakes::{MistakeKind, ModuleMistake, place_of};
use super::resolve;
use crate::types::{api_members, event_members};

/// Functions of the agent's extension API. A module that calls one while it is loaded keeps what it registered.
pub(crate) const EXTENSION_MEMBERS: [&str; 17] = [
    "registerTool",
    "registerFlag",
    "getFlag",
    "registerShortcut",
    "registerProvider",
    "setLabel",
    "sendUserMessage",
    "setActiveTools",
    "setModel",
    "getThinkingLevel",
    "setThinkingLevel",
    "getSessionName",
    "setSessionName",
    "getActiveTools",
    "getAllTools",
    "getCommands",
    "events",
];

/// Names that no module has without defining or importing them, and what to write instead: those of Node's older modules,
/// its built-in modules, and the API.
const UNDEFINED: [(&str, &str); 12] = [
    ("pi", "take it as the parameter: `export default (pi) => { … }`"),
    ("fs", "write `import fs from \"node:fs\"`"),
    ("path", "write `import path from \"node:path\"`"),
    ("os", "write `import os from \"node:os\"`"),
    ("execSync", "write `import { execSync } from \"node:child_process\"`"),
    ("readFileSync", "write `import { readFileSync } from \"node:fs\"`"),
    ("existsSync", "write `import { existsSync } from \"node:fs\"`"),
    ("require", "write an import, as in `import fs from \"node:fs\"`"),
    ("module", "write `export default (pi) => { … }`"),
    ("exports", "write `export default (pi) => { … }`"),
    ("__dirname", "write `import.meta.dirname`"),
    ("__filename", "write `import.meta.filename`"),
];

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

/// Finds mistakes in the text of a hook file that has no syntax error.
pub(super) fn find_mistakes(path: &Path, source: &str) -> Vec<ModuleMistake> {
    let is_typescript = path.extension().is_some_and(|ending| ending == "ts" || ending == "mts");
    let kind = if is_typescript { SourceType::ts() } else { SourceType::mjs() }.with_module(true);
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, kind).parse();
    if parsed.diagnostics.errors().next().is_some() {
        return Vec::new();
    }
    let semantic = SemanticBuilder::new().with_build_nodes(true).build(&parsed.program).semantic;
    let mut look = Look { path, source, semantic: &semantic, found: Vec::new(), looked: Vec::new() };
    look.undefined_names();
    look.dynamic_imports();
    look.default_export();
    look.found.sort_by_key(|mistake| (mistake.place.line, mistake.place.column));
    look.found
}

/// Finds what a script for Node or another program of its kind uses and does not have: names of built-in modules that it
/// does not import, and files of relative imports that do not exist. A script with a syntax error has no other mistake.
pub(super) fn find_script_mistakes(path: &Path, source: &str) -> Vec<ModuleMistake> {
    let is_typescript =
        path.extension().is_some_and(|ending| ["ts", "mts", "cts"].iter().any(|known| ending == *known));
    let module = if is_typescript { SourceType::ts() } else { SourceType::mjs() }.with_module(true);
    for kind in [module, SourceType::cjs()] {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, source, kind).parse();
        if parsed.diagnostics.errors().next().is_some() {
            continue;
        }
        let is_module =
            parsed.module_record.has_module_syntax || path.extension().is_some_and(|ending| ending == "mjs");
        let imports: Vec<(Span, String)> = parsed
            .module_record
            .requested_modules
            .iter()
            .flat_map(|(name, uses)| uses.iter().filter(|one| !one.is_type).map(|one| (one.span, name.to_string())))
            .collect();
        let semantic = SemanticBuilder::new().with_build_nodes(true).build(&parsed.program).semantic;
        let mut look = Look { path, source, semantic: &semantic, found: Vec::new(), looked: Vec::new() };
        let skipped = if is_module {
            ["pi"].as_slice()
        } else {
            &["pi", "require", "module", "exports", "__dirname", "__filename"]
        };
        look.undefined(|name| !skipped.contains(&name));
        let required = look.required();
        for (span, specifier) in imports.into_iter().chain(required) {
            look.relative_import(span, &specifier);
        }
        look.found.sort_by_key(|mistake| (mistake.place.line, mistake.place.column));
        return look.found;
    }
    Vec::new()
}

/// The look at one file.
struct Look<'s, 'a> {
    path: &'s Path,
    source: &'s str,
    semantic: &'s Semantic<'a>,
    found: Vec<ModuleMistake>,
    /// The variables whose uses were looked at.
    looked: Vec<SymbolId>,
}

/// What a module exports as its default.
enum Factory<'a> {
    Function(FunctionNode<'a>),
    /// Something that cannot be called.
    NotCallable(Span),
    /// Something whose value is not in the text.
    Unknown,
}

/// A function of the text.
#[derive(Clone, Copy)]
struct FunctionNode<'a> {
    node: NodeId,
    parameters: &'a FormalParameters<'a>,
    /// The value of an arrow function without a block.
    value: Option<&'a Expression<'a>>,
}

impl<'a> Look<'_, 'a> {
    fn report(&mut self, kind: MistakeKind, at: Span, message: impl Into<String>, hint: impl Into<String>) {
        let place = place_of(self.path, self.source, at.start);
        self.found.push(ModuleMistake::new(kind, message, place).hint(hint));
    }

    /// Reports names that nothing defines. A name that the module only tests for is left alone.
    fn undefined_names(&mut self) {
        self.undefined(|_| true);
    }

    /// The texts that `require` is given, with their places.
    fn required(&self) -> Vec<(Span, String)> {
        let mut found = Vec::new();
        for node in self.semantic.nodes().iter() {
            if let AstKind::CallExpression(call) = node.kind()
                && call.callee.is_specific_id("require")
                && !self.is_in_try(node.id())
                && let Some(Expression::StringLiteral(text)) =
                    call.arguments.first().and_then(|first| first.as_expression())
            {
                found.push((text.span, text.value.to_string()));
            }
        }
        found
    }

    /// Reports an import of a file beside the script that is not there.
    fn relative_import(&mut self, span: Span, specifier: &str) {
        let candidates = resolve::candidates_of(&self.path.to_string_lossy(), specifier);
        let is_there = |file: &std::path::PathBuf| {
            file.is_file()
                || ["cjs", "cts", "node", "tsx", "jsx"].iter().any(|ending| file.with_extension(ending).is_file())
        };
        if candidates.is_empty() || candidates.iter().any(is_there) || candidates.iter().any(|file| file.is_dir()) {
            return;
        }
        let message = format!("imports `{specifier}`, which does not exist");
        self.report(MistakeKind::Load, span, message, "correct the path, or create the file");
    }

    fn undefined(&mut self, is_wanted: impl Fn(&str) -> bool) {
        let unresolved = self.semantic.scoping().root_unresolved_references();
        let mut uses: Vec<(Span, &str, &str)> = Vec::new();
        for (name, how) in UNDEFINED.into_iter().filter(|(name, _)| is_wanted(name)) {
            let references = unresolved.iter().filter(|(known, _)| known.as_str() == name).flat_map(|(_, ids)| ids);
            let nodes = references.map(|id| self.semantic.scoping().get_reference(*id).node_id());
            let nodes: Vec<NodeId> = nodes.collect();
            let is_tested = |node: &NodeId| {
                matches!(self.semantic.nodes().parent_kind(*node), AstKind::UnaryExpression(_)) || self.is_in_try(*node)
            };
            if !nodes.iter().any(is_tested) {
                let first = nodes.iter().map(|node| self.semantic.nodes().kind(*node).span()).min();
                uses.extend(first.map(|span| (span, name, how)));
            }
        }
        for (span, name, how) in uses {
            self.report(MistakeKind::Api, span, format!("uses `{name}`, which it does not define"), how);
        }
    }

    fn is_in_try(&self, node: NodeId) -> bool {
        self.semantic.nodes().ancestor_kinds(node).any(|kind| matches!(kind, AstKind::TryStatement(_)))
    }

    /// Reports imports at run time of what cannot be imported.
    fn dynamic_imports(&mut self) {
        let base = self.path.to_string_lossy().into_owned();
        let mut wrong: Vec<(Span, String)> = Vec::new();
        for node in self.semantic.nodes().iter() {
            if let AstKind::ImportExpression(import) = node.kind()
                && let Expression::StringLiteral(specifier) = &import.source
                && !self.is_in_try(node.id())
                && let Err(message) = resolve::resolve(&base, specifier.value.as_str(), |_| false)
            {
                wrong.push((specifier.span, message));
            }
        }
        for (span, message) in wrong {
            self.report(MistakeKind::Load, span, format!("has an import that fails: {message}"), "correct the import");
        }
    }

    fn default_export(&mut self) {
        let export = "write `export default (pi) => { pi.on(\"tool_call\", …); }`";
        match self.find_factory() {
            Some(Factory::Function(function)) => {
                let parameter = function.parameters.items.first();
                if let Some(parameter) = parameter {
                    self.pattern(&parameter.pattern);
                }
                if self.found.is_empty() && parameter.is_none_or(|parameter| self.is_unused(&parameter.pattern)) {
                    let at = self.semantic.nodes().kind(function.node).span();
                    self.report(MistakeKind::Api, at, "registers nothing, so it is asked in no event", export);
                }
            }
            Some(Factory::NotCallable(span)) => {
                self.report(MistakeKind::Load, span, "cannot be loaded: its default export is no function", export);
            }
            Some(Factory::Unknown) => {}
            None => {
                let first = self.semantic.nodes().program().body.first().map_or(Span::new(0, 0), |first| first.span());
                self.report(MistakeKind::Load, first, "cannot be loaded: it has no default export", export);
            }
        }
    }

    /// Whether a parameter is never used.
    fn is_unused(&self, pattern: &BindingPattern<'a>) -> bool {
        match pattern {
            BindingPattern::BindingIdentifier(name) => {
                name.symbol_id.get().is_some_and(|symbol| self.semantic.scoping().symbol_is_unused(symbol))
            }
            _ => false,
        }
    }

    /// What the file exports as its default; none if it exports nothing as that.
    fn find_factory(&self) -> Option<Factory<'a>> {
        for node in self.semantic.nodes().iter() {
            match node.kind() {
                AstKind::ExportDefaultDeclaration(export) => {
                    return Some(match &export.declaration {
                        ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                            let (node, parameters) = (function.node_id.get(), &*function.params);
                            Factory::Function(FunctionNode { node, parameters, value: None })
                        }
                        // A class is a function that fails when it is called.
                        ExportDefaultDeclarationKind::ClassDeclaration(class) => Factory::NotCallable(class.span),
                        ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => continue,
                        other => other.as_expression().map_or(Factory::Unknown, |value| self.value_of(value, 0)),
                    });
                }
                AstKind::ExportSpecifier(specifier) if specifier.exported.name() == "default" => {
                    return Some(match &specifier.local {
                        ModuleExportName::IdentifierReference(local) => self.value_of_name(local, 0),
                        ModuleExportName::IdentifierName(_) | ModuleExportName::StringLiteral(_) => Factory::Unknown,
                    });
                }
                _ => {}
            }
        }
        None
    }

    fn value_of(&self, value: &'a Expression<'a>, depth: usize) -> Factory<'a> {
        match value.get_inner_expression() {
            Expression::ArrowFunctionExpression(arrow) => {
                let value = match &arrow.body {
                    ArrowFunctionBody::FunctionBody(_) => None,
                    other => other.as_expression(),
                };
                Factory::Function(FunctionNode { node: arrow.node_id.get(), parameters: &arrow.params, value })
            }
            Expression::FunctionExpression(function) => Factory::Function(FunctionNode {
                node: function.node_id.get(),
                parameters: &function.params,
                value: None,
            }),
            Expression::Identifier(name) => self.value_of_name(name, depth),
            literal @ (Expression::ObjectExpression(_)
            | Expression::ArrayExpression(_)
            | Expression::StringLiteral(_)
            | Expression::NumericLiteral(_)
            | Expression::BooleanLiteral(_)
            | Expression::NullLiteral(_)
            | Expression::TemplateLiteral(_)
            | Expression::ClassExpression(_)) => Factory::NotCallable(literal.span()),
            _ => Factory::Unknown,
        }
    }

    fn value_of_name(&self, name: &IdentifierReference<'a>, depth: usize) -> Factory<'a> {
        /// Names that mean other names, one after the other.
        const DEEPEST: usize = 8;
        let scoping = self.semantic.scoping();
        let symbol = name.reference_id.get().and_then(|reference| scoping.get_reference(reference).symbol_id());
        let Some(symbol) = symbol.filter(|symbol| depth < DEEPEST && !scoping.symbol_is_mutated(*symbol)) else {
            return Factory::Unknown;
        };
        match self.semantic.symbol_declaration(symbol).kind() {
            AstKind::Function(function) => Factory::Function(FunctionNode {
                node: function.node_id.get(),
                parameters: &function.params,
                value: None,
            }),
            AstKind::VariableDeclarator(variable) if matches!(variable.id, BindingPattern::BindingIdentifier(_)) => {
                variable.init.as_ref().map_or(Factory::Unknown, |value| self.value_of(value, depth + 1))
            }
            _ => Factory::Unknown,
        }
    }

    /// Looks at the uses of what holds the API.
    fn pattern(&mut self, pattern: &'a BindingPattern<'a>) {
        match pattern {
            BindingPattern::BindingIdentifier(name) => {
                if let Some(symbol) = name.symbol_id.get() {
                    self.uses_of_api(symbol);
                }
            }
            BindingPattern::ObjectPattern(object) => self.members_taken(object),
            BindingPattern::ArrayPattern(_) | BindingPattern::AssignmentPattern(_) => {}
        }
    }

    /// Looks at `{ on, exec }`, which takes members out of the API.
    fn members_taken(&mut self, object: &'a ObjectPattern<'a>) {
        for property in &object.properties {
            let Some(name) = property.key.static_name() else { continue };
            let BindingPattern::BindingIdentifier(local) = &property.value else { continue };
            let Some(symbol) = local.symbol_id.get() else { continue };
            let nodes: Vec<NodeId> = self.semantic.symbol_references(symbol).map(|one| one.node_id()).collect();
            for node in nodes {
                if let AstKind::CallExpression(call) = self.semantic.nodes().parent_kind(node)
                    && call.callee.span() == self.semantic.nodes().kind(node).span()
                {
                    self.call(&name, call, property.key.span());
                }
            }
        }
    }

    fn uses_of_api(&mut self, symbol: SymbolId) {
        if self.looked.contains(&symbol) {
            return;
        }
        self.looked.push(symbol);
        let nodes: Vec<NodeId> = self.semantic.symbol_references(symbol).map(|one| one.node_id()).collect();
        let mut calls: Vec<(&'a str, &'a CallExpression<'a>, Span)> = Vec::new();
        let mut tested: Vec<&'a str> = Vec::new();
        for node in nodes {
            let span = self.semantic.nodes().kind(node).span();
            let parent = self.semantic.nodes().parent_node(node);
            match parent.kind() {
                AstKind::StaticMemberExpression(member) if member.object.span() == span => {
                    let name = member.property.name.as_str();
                    match self.semantic.nodes().parent_kind(parent.id()) {
                        AstKind::CallExpression(call) if call.callee.span() == member.span => {
                            calls.push((name, call, member.property.span));
                        }
                        _ => tested.push(name),
                    }
                }
                AstKind::VariableDeclarator(variable) => match &variable.id {
                    BindingPattern::ObjectPattern(object) => self.members_taken(object),
                    other => self.pattern(other),
                },
                // A function of the same file that is given the API uses it too.
                AstKind::CallExpression(call) => {
                    let position = call.arguments.iter().position(|argument| argument.span() == span);
                    if let Some(position) = position
                        && let Factory::Function(function) = self.value_of(&call.callee, 0)
                        && let Some(parameter) = function.parameters.items.get(position)
                    {
                        self.pattern(&parameter.pattern);
                    }
                }
                _ => {}
            }
        }
        for (name, call, span) in calls {
            // A module that looks whether there is such a member knows that there may be none.
            if !tested.contains(&name) {
                self.call(name, call, span);
            }
        }
    }

    /// Looks at a call of a member of the API.
    fn call(&mut self, name: &str, call: &'a CallExpression<'a>, at: Span) {
        let known = api_members();
        if name == "on" {
            self.registration(call);
        } else if EXTENSION_MEMBERS.contains(&name) {
            let message = format!("calls `pi.{name}`, which hookrail does not have");
            let hint = "hookrail has the hook API of modules, not the agent's extension API";
            self.report(MistakeKind::Unsupported, at, message, hint);
        } else if !known.contains(&name) {
            let hint = match nearest(name, known.iter().copied()) {
                Some(meant) => format!("did you mean `pi.{meant}`?"),
                None => "`hookrail docs modules` lists what there is".to_owned(),
            };
            self.report(MistakeKind::Api, at, format!("calls `pi.{name}`, which modules do not have"), hint);
        }
    }

    /// Looks at `pi.on(event, handler)`.
    fn registration(&mut self, call: &'a CallExpression<'a>) {
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
                self.report(MistakeKind::Load, call.span, format!("cannot be loaded: it {message}"), form);
            }
            Some(Factory::NotCallable(span)) => {
                let message = format!("cannot be loaded: its handler for `{shown}` is no function");
                self.report(MistakeKind::Load, *span, message, form);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn mistakes(source: &str) -> Vec<String> {
        let found = find_mistakes(Path::new("/p/hook.ts"), source);
        found.into_iter().map(|one| format!("{}:{} {}", one.place.line, one.place.column, one.message)).collect()
    }

    #[test]
    fn correct_modules_have_no_mistake() {
        for source in [
            "export default (pi) => pi.on('tool_call', () => undefined);",
            "export default async function (pi: HookAPI) { pi.on('tool_call', async (event) => ({ block: true })); }",
            "export default (pi) => pi.on('tool_call', ({ toolName, input }) => toolName === 'a' && { block: !input.x });",
            "export default (pi) => pi.on('tool_call', (e) => { e.mine = 1; return e.agent_id ? undefined : e.toString(); });",
            "import fs from 'node:fs'; export default (pi) => pi.on('tool_call', () => { fs.x(); });",
            "const hook = (pi) => { pi.logger.info('x'); }; export { hook as default };",
            "const hook: HookFactory = ({ on, exec }) => { on('tool_call', () => exec('a', [])); }; export default hook;",
            "import factory from './other'; export default factory;",
            "export { default } from './other';",
            "export default wrap((pi) => pi.onn());",
            "export default (pi) => { if (pi.setFooter) pi.setFooter('x'); };",
            "export default (pi) => { for (const name of names) pi.on(name, handler); };",
            "export default (pi) => pi.on('tool_result', (e) => ({ ...e, extra: 1 }));",
            "export default (pi) => pi.on('tool_call', () => { const f = () => { return { own: 1 }; }; f(); });",
            "export default (pi) => { const r = typeof require === 'function' ? require : undefined; pi.exec('x', []); };",
            "export default (pi, require) => require(pi);",
        ] {
            assert_eq!(mistakes(source), [""; 0], "{source}");
        }
    }

    #[test]
    fn mistakes_have_their_place() {
        for (source, expected) in [
            ("export const x = 1;", "1:1 cannot be loaded: it has no default export"),
            ("module.exports = (pi) => {};", "1:1 uses `module`, which it does not define"),
            ("export default () => {};", "1:16 registers nothing, so it is asked in no event"),
            ("export default () => pi.on('tool_call', f);", "1:22 uses `pi`, which it does not define"),
            (
                "export default (pi) => pi.on('tool_call', (e) => { if (e.tool_name === 'x') return { block: true }; });",
                "1:58 reads `tool_name` of a `tool_call` event, which has no such member",
            ),
            (
                "export default (pi) => pi.on('tool_call', ({ args }) => args && undefined);",
                "1:46 reads `args` of a `tool_call` event, which has no such member",
            ),
            (
                "export default (pi) => pi.on('tool_call', () => false);",
                "1:49 returns false for `tool_call`, which means nothing there",
            ),
            (
                "export default (pi) => pi.on('tool_call', () => { fs.existsSync('x'); });",
                "1:51 uses `fs`, which it does not define",
            ),
            ("export default { on() {} };", "1:16 cannot be loaded: its default export is no function"),
            ("export default (pi) => pi.onn('tool_call', f);", "1:27 calls `pi.onn`, which modules do not have"),
            (
                "function setup(api) {\n  api.onn();\n}\nexport default (pi) => setup(pi);",
                "2:7 calls `pi.onn`, which modules do not have",
            ),
            (
                "const f = ({ onn }) => onn('x', y);\nexport default f;",
                "1:14 calls `pi.onn`, which modules do not have",
            ),
            (
                "export default (pi) => {\n  pi.on('tool_cal', () => {});\n};",
                "2:9 has a handler for `tool_cal`, which is not an event",
            ),
            (
                "export default (pi) => pi.on('tool_call');",
                "1:24 cannot be loaded: it calls `pi.on(\"tool_call\")` without a handler",
            ),
            (
                "export default (pi) => pi.on('tool_call', 'no');",
                "1:43 cannot be loaded: its handler for `tool_call` is no function",
            ),
            (
                "export default (pi) => { const fs = require('fs'); pi.on('tool_call', () => fs); };",
                "1:37 uses `require`, which it does not define",
            ),
            (
                "export default (pi) => pi.registerTool({});",
                "1:27 calls `pi.registerTool`, which hookrail does not have",
            ),
            (
                "export default (pi) => pi.on('tool_call', (e) => e.x ? { decision: 'deny' } : undefined);",
                "1:56 returns `decision` for `tool_call`, which means nothing there",
            ),
            (
                "const h = () => {\n  return { deny: true };\n};\nexport default (pi) => pi.on('tool_call', h);",
                "2:10 returns `deny` for `tool_call`, which means nothing there",
            ),
            (
                "export default async (pi) => { await import('./nothing'); };",
                "1:45 has an import that fails: Cannot find module './nothing' imported from '/p/hook.ts'",
            ),
        ] {
            assert_eq!(mistakes(source).first().map(String::as_str), Some(expected), "{source}");
        }
    }

    #[test]
    fn scripts_have_what_they_use() {
        let found = |name: &str, source: &str| -> Vec<String> {
            find_script_mistakes(Path::new(name), source).into_iter().map(|one| one.message).collect()
        };
        assert_eq!(found("/p/a.js", "const fs = require('fs');\nfs.x(__dirname); return;\n"), [""; 0]);
        assert_eq!(found("/p/a.mjs", "import fs from 'node:fs';\nfs.x(process.argv);\n"), [""; 0]);
        assert_eq!(found("/p/a.js", "fs.existsSync('x');\n"), ["uses `fs`, which it does not define"]);
        assert_eq!(found("/p/a.mjs", "const fs = require('fs');\n"), ["uses `require`, which it does not define"]);
        assert_eq!(found("/p/a.js", "require('./nothing');\n"), ["imports `./nothing`, which does not exist"]);
        assert_eq!(found("/p/a.mjs", "import './nothing.mjs';\n"), ["imports `./nothing.mjs`, which does not exist"]);
        assert_eq!(found("/p/a.js", "const a = ;\n"), [""; 0]);
    }

    #[test]
    fn the_extension_api_is_the_one_that_the_runtime_names() {
        let api = crate::source::script("api.js").unwrap();
        for name in EXTENSION_MEMBERS {
            assert!(api.contains(&format!("\"{name}\"")), "{name}");
        }
    }
}
