//! Names that a module or a script uses and does not define, and files of relative imports that are not there.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::AstKind;
use oxc_ast::ast::Expression;
use oxc_parser::Parser;
use oxc_semantic::{NodeId, SemanticBuilder};
use oxc_span::{GetSpan as _, SourceType, Span};

use super::Look;
use crate::source::mistakes::{MistakeKind, ModuleMistake};
use crate::source::transpile::CodeKind;
use crate::source::{commonjs, resolve};

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

/// Finds what a script for Node or another program of its kind uses and does not have: names of built-in modules that it
/// does not import, and files of relative imports that do not exist. A script with a syntax error has no other mistake.
pub(in crate::source) fn find_script_mistakes(path: &Path, source: &str) -> Vec<ModuleMistake> {
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

impl Look<'_, '_> {
    /// Reports names that nothing defines. A name that the module only tests for is left alone.
    pub(super) fn undefined_names(&mut self, kind: &CodeKind) {
        let given: &[&str] = match kind {
            CodeKind::CommonJs { .. } => &commonjs::NAMES,
            CodeKind::Module { .. } => &commonjs::NAMES_IN_MODULES,
        };
        self.undefined(|name| !given.contains(&name));
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
