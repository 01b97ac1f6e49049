//! How the text of a hook file uses the API of modules: the function that it exports, the members of `pi`, the names of
//! events, and what handlers return.
//!
//! Only what is certain is reported. A value that comes from elsewhere, a computed name and a member whose presence the
//! module tests are left alone.

mod handlers;
mod names;

use std::path::Path;

use hookrail::sources::nearest;
use oxc_allocator::Allocator;
use oxc_ast::AstKind;
use oxc_ast::ast::{
    ArrowFunctionBody, AssignmentTarget, BindingPattern, CallExpression, ExportDefaultDeclarationKind, Expression,
    FormalParameters, IdentifierReference, ModuleExportName, ObjectPattern,
};
use oxc_semantic::{NodeId, Semantic, SemanticBuilder, SymbolId};
use oxc_span::{GetSpan as _, Span};

use super::mistakes::{MistakeKind, ModuleMistake, place_of};
use super::transpile::parse_file;
use super::{commonjs, resolve};
use crate::types::api_members;

pub(super) use names::find_script_mistakes;

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

/// Finds mistakes in the text of a hook file that has no syntax error.
pub(super) fn find_mistakes(path: &Path, source: &str) -> Vec<ModuleMistake> {
    let allocator = Allocator::default();
    let parsed = parse_file(&allocator, path, source);
    if parsed.diagnostics.errors().next().is_some() {
        return Vec::new();
    }
    let semantic = SemanticBuilder::new().with_build_nodes(true).build(&parsed.program).semantic;
    let mut look = Look { path, source, semantic: &semantic, found: Vec::new(), looked: Vec::new() };
    let kind = commonjs::find_uses(path, source, &parsed.program).kind;
    look.undefined_names(&kind);
    look.dynamic_imports();
    look.default_export();
    look.found.sort_by_key(|mistake| (mistake.place.line, mistake.place.column));
    look.found
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
                // A CommonJS module.
                AstKind::AssignmentExpression(assignment)
                    if matches!(&assignment.left, AssignmentTarget::StaticMemberExpression(member)
                        if commonjs::is_default_export(member)) =>
                {
                    return Some(self.value_of(&assignment.right, 0));
                }
                AstKind::TSExportAssignment(export) => return Some(self.value_of(&export.expression, 0)),
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
                None => "`hookrail docs reference/modules` lists what there is".to_owned(),
            };
            self.report(MistakeKind::Api, at, format!("calls `pi.{name}`, which modules do not have"), hint);
        }
    }
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
            "export default (pi) => { const fs = require('fs'); pi.on('tool_call', () => fs.x(__dirname)); };",
            "const fs = require('fs'); module.exports = (pi) => { pi.on('tool_call', () => fs.x(__filename)); };",
            "exports.__esModule = true; exports.default = (pi) => { pi.on('tool_call', () => undefined); };",
        ] {
            assert_eq!(mistakes(source), [""; 0], "{source}");
        }
    }

    #[test]
    fn mistakes_have_their_place() {
        for (source, expected) in [
            ("export const x = 1;", "1:1 cannot be loaded: it has no default export"),
            ("import 'fs';\nmodule.exports = (pi) => {};", "2:1 uses `module`, which it does not define"),
            ("module.exports = 7;", "1:18 cannot be loaded: its default export is no function"),
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
            ("export default (pi) => pi.on('tool_call');", "1:24 calls `pi.on(\"tool_call\")` without a handler"),
            (
                "export default (pi) => pi.on('tool_call', 'no');",
                "1:43 has a handler for `tool_call` that is no function",
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
    fn the_extension_api_is_the_one_that_the_runtime_names() {
        let api = crate::source::script("api.js").unwrap();
        for name in EXTENSION_MEMBERS {
            assert!(api.contains(&format!("\"{name}\"")) || api.contains(&format!("pi.{name} = ")), "{name}");
        }
    }
}
