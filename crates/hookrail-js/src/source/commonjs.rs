//! CommonJS modules: which files are such modules, what `require` means in a file, and how they are loaded.

use std::borrow::Cow;
use std::path::Path;

use hookrail::module::LoadFailure;
use oxc_ast::AstKind;
use oxc_ast::ast::{
    AssignmentTarget, BindingIdentifier, Expression, ObjectPropertyKind, Program, PropertyKey, Statement,
    StaticMemberExpression,
};
use oxc_semantic::SemanticBuilder;
use rquickjs::context::EvalOptions;
use rquickjs::function::{Func, This};
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Exception, Function, Module, Promise, Value};

use super::loader::{declare, load_code, resolve_import};
use super::transpile::{CodeKind, is_typescript};
use super::virtuals;
use crate::shared::{Shared, lent};

/// The names that a CommonJS module finds without defining them.
pub(super) const NAMES: [&str; 5] = ["require", "__filename", "__dirname", "module", "exports"];

/// Those of them that an ES module finds too.
pub(super) const NAMES_IN_MODULES: [&str; 3] = ["require", "__filename", "__dirname"];

/// What stands around the code of a CommonJS module. It is on the first line, so that lines keep their numbers.
pub(super) const BEFORE: &str = "(function (exports, require, module, __filename, __dirname) {";
const AFTER: &str = "\n})";

/// How a file uses CommonJS.
pub(super) struct CommonJsUses {
    pub(super) kind: CodeKind,
    /// The texts that `require` is given.
    pub(super) required: Vec<String>,
    /// Whether it has decorators, which the engine does not know.
    pub(super) has_decorators: bool,
}

/// Finds out which kind of module a file is, and what it requires.
pub(super) fn find_uses(path: &Path, source: &str, program: &Program<'_>) -> CommonJsUses {
    let ends_in = |endings: [&str; 2]| path.extension().is_some_and(|own| endings.iter().any(|ending| own == *ending));
    let is_common = ends_in(["cjs", "cts"]);
    if !is_common && !source.contains('@') && !NAMES.iter().any(|name| source.contains(name)) {
        let kind = CodeKind::Module { names: Vec::new() };
        return CommonJsUses { kind, required: Vec::new(), has_decorators: false };
    }
    let semantic = SemanticBuilder::new().with_build_nodes(true).build(program).semantic;
    let unresolved = semantic.scoping().root_unresolved_references();
    let is_free = |name: &str| unresolved.keys().any(|known| known.as_str() == name);
    let mut required = Vec::new();
    let mut exports = Vec::new();
    let mut imports_by_require = false;
    let mut has_decorators = false;
    for node in semantic.nodes().iter() {
        match node.kind() {
            AstKind::CallExpression(call) => {
                let first = call.arguments.first().and_then(|first| first.as_expression());
                if call.callee.is_specific_id("require")
                    && let Some(Expression::StringLiteral(text)) = first
                {
                    required.push(text.value.to_string());
                }
                let second = call.arguments.get(1).and_then(|second| second.as_expression());
                if first.is_some_and(is_exports)
                    && call.callee.is_specific_member_access("Object", "defineProperty")
                    && let Some(Expression::StringLiteral(text)) = second
                {
                    exports.push(text.value.to_string());
                }
            }
            AstKind::AssignmentExpression(assignment) => {
                if let AssignmentTarget::StaticMemberExpression(member) = &assignment.left {
                    exports.extend(exported_by(member, &assignment.right));
                }
            }
            AstKind::Decorator(_) => has_decorators = true,
            AstKind::TSExternalModuleReference(reference) => {
                imports_by_require = true;
                required.push(reference.expression.value.to_string());
            }
            _ => {}
        }
    }
    // What a TypeScript file imports and names in types only is not imported when it runs.
    let is_type = |local: &BindingIdentifier<'_>| {
        let mut references = local.symbol_id.get().into_iter().flat_map(|symbol| semantic.symbol_references(symbol));
        is_typescript(path) && !references.any(|reference| reference.is_value())
    };
    let is_module =
        program.body.iter().any(|statement| is_module_syntax(statement, &is_type)) || ends_in(["mjs", "mts"]);
    let uses_names = NAMES.iter().any(|name| is_free(name)) || program.body.iter().any(is_export_assignment);
    let kind = if is_common || (!is_module && uses_names) {
        exports.retain(|name| is_name(name));
        exports.sort_unstable();
        exports.dedup();
        CodeKind::CommonJs { exports }
    } else {
        let is_used = |name: &&str| is_free(name) || (imports_by_require && **name == *"require");
        CodeKind::Module { names: NAMES_IN_MODULES.into_iter().filter(is_used).collect() }
    };
    CommonJsUses { kind, required, has_decorators }
}

/// Whether an expression is `exports` or `module.exports`.
fn is_exports(value: &Expression<'_>) -> bool {
    value.is_specific_id("exports") || value.is_specific_member_access("module", "exports")
}

/// Whether an assignment to this gives a module its default export: `module.exports`, `exports.default`.
pub(super) fn is_default_export(target: &StaticMemberExpression<'_>) -> bool {
    (target.object.is_specific_id("module") && target.property.name == "exports")
        || (is_exports(&target.object) && target.property.name == "default")
}

/// The names that an assignment exports: `exports.a = …`, `module.exports = { a, b }`.
fn exported_by(target: &StaticMemberExpression<'_>, value: &Expression<'_>) -> Vec<String> {
    if is_exports(&target.object) {
        return vec![target.property.name.to_string()];
    }
    let is_all = target.object.is_specific_id("module") && target.property.name == "exports";
    let Expression::ObjectExpression(object) = value else { return Vec::new() };
    if !is_all {
        return Vec::new();
    }
    let name = |property: &ObjectPropertyKind<'_>| match property {
        ObjectPropertyKind::ObjectProperty(property) => match &property.key {
            PropertyKey::StaticIdentifier(name) => Some(name.name.to_string()),
            _ => None,
        },
        ObjectPropertyKind::SpreadProperty(_) => None,
    };
    object.properties.iter().filter_map(name).collect()
}

/// Whether a text can be exported by that name. The default is exported in any case.
fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    let begins = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_' || first == '$');
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_' || character == '$';
    begins && characters.all(is_part) && text != "default" && text != "__esModule"
}

/// Whether a statement makes a file an ES module.
fn is_module_syntax(statement: &Statement<'_>, is_type: &impl Fn(&BindingIdentifier<'_>) -> bool) -> bool {
    match statement {
        Statement::ImportDeclaration(import) => {
            let names = || import.specifiers.iter().flatten();
            import.import_kind.is_value() && (names().next().is_none() || names().any(|name| !is_type(name.local())))
        }
        Statement::ExportNamedDeclaration(export) => export.export_kind.is_value() && !is_empty_export(statement),
        Statement::ExportFromDeclaration(export) => export.export_kind.is_value(),
        Statement::ExportDeclaration(_)
        | Statement::ExportDefaultDeclaration(_)
        | Statement::ExportAllDeclaration(_) => true,
        _ => false,
    }
}

fn is_export_assignment(statement: &Statement<'_>) -> bool {
    matches!(statement, Statement::TSExportAssignment(_))
}

/// Whether a statement is `export {}`.
pub(super) fn is_empty_export(statement: &Statement<'_>) -> bool {
    matches!(statement, Statement::ExportNamedDeclaration(export) if export.specifiers.is_empty())
}

/// The source with its first line as a comment if that names an interpreter, which is allowed at the beginning only.
pub(super) fn without_first_mark(source: &str) -> Cow<'_, str> {
    match source.strip_prefix("#!") {
        Some(rest) => Cow::Owned(format!("//{rest}")),
        None => Cow::Borrowed(source),
    }
}

/// What stands before the code of an ES module that uses names of CommonJS, on its first line.
pub(super) fn names_for_module(path: &str, names: &[&str]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let path = serde_json::Value::from(path);
    format!("const{{{}}}=globalThis.__hookrail.part(\"commonjs.js\").scope({path});", names.join(","))
}

/// The ES module through which a CommonJS module is imported.
pub(super) fn facade(path: &str, exports: &[String]) -> String {
    let path = serde_json::Value::from(path);
    let mut text = format!(
        "const m=globalThis.__hookrail.part(\"commonjs.js\").exported({path});const d=m.default;export{{d as default}};"
    );
    for (number, name) in exports.iter().enumerate() {
        text.push_str(&format!("const n{number}=m.all?.{name};export{{n{number} as {name}}};"));
    }
    text
}

/// The module that a file means by the text that it gives to `require`.
pub(crate) fn resolve_required<'js>(ctx: &Ctx<'js>, base: &str, specifier: &str) -> rquickjs::Result<String> {
    let Some(shared) = lent() else { return Err(Exception::throw_message(ctx, "the module has to stop")) };
    let name = resolve_import(&shared, base, specifier).map_err(|failure| throw(ctx, &shared, failure))?;
    shared.state().sources.requirable.insert(name.clone());
    Ok(name)
}

/// Loads a module for `require`: the function of a CommonJS module, or the exports of any other.
pub(crate) fn load_required<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Value<'js>> {
    let Some(shared) = lent() else { return Err(Exception::throw_message(ctx, "the module has to stop")) };
    if virtuals::module(name).is_none() {
        let known = shared.state().sources.commonjs.remove(name);
        let code = match known {
            Some(text) => Some(text),
            // Whether a module may load a file is decided where its name is resolved.
            None if !shared.state().sources.requirable.contains(name) => {
                return Err(Exception::throw_message(ctx, &format!("'{name}' was not resolved")));
            }
            None => {
                let code = load_code(&shared, name).map_err(|failure| throw(ctx, &shared, failure))?;
                if matches!(code.kind, CodeKind::CommonJs { .. }) { Some(code.text) } else { None }
            }
        };
        if let Some(text) = code {
            let mut options = EvalOptions::default();
            (options.strict, options.filename) = (false, Some(name.to_owned()));
            let function: Function<'js> = ctx.eval_with_options(format!("{BEFORE}{text}{AFTER}"), options)?;
            return Ok(function.into_value());
        }
    }
    let (module, promise) = declare(ctx, &shared, name)?.eval()?;
    finish(ctx, name, &promise)?;
    module.namespace().map(rquickjs::Object::into_value)
}

/// Throws what a module threw. A module that waits cannot be required.
fn finish<'js>(ctx: &Ctx<'js>, name: &str, promise: &Promise<'js>) -> rquickjs::Result<()> {
    match promise.state() {
        PromiseState::Resolved => Ok(()),
        PromiseState::Pending => {
            let message = format!("'{name}' waits while it is loaded, so it cannot be required; import it");
            Err(Exception::throw_message(ctx, &message))
        }
        PromiseState::Rejected => {
            // It is thrown here, so it is not a rejection without a handler.
            let catch: Function<'js> = promise.get("catch")?;
            catch.call::<_, ()>((This(promise.clone()), Func::from(|| ())))?;
            promise.result::<Value<'js>>().transpose().map(drop)
        }
    }
}

fn throw<'js>(ctx: &Ctx<'js>, shared: &Shared, failure: LoadFailure) -> rquickjs::Error {
    let thrown = Exception::throw_message(ctx, &failure.message);
    shared.state().sources.failure = Some(failure);
    thrown
}

/// The module that a CommonJS file is imported as.
pub(super) fn declare_facade<'js>(
    ctx: &Ctx<'js>,
    shared: &Shared,
    name: &str,
    text: String,
    exports: &[String],
) -> rquickjs::Result<Module<'js>> {
    shared.state().sources.commonjs.insert(name.to_owned(), text);
    Module::declare(ctx.clone(), name, facade(name, exports))
}
