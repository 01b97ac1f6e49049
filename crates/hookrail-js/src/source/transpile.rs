//! Turns TypeScript into JavaScript with a full parser, and reports syntax errors with their place.

use std::path::Path;

use hookrail::module::LoadFailure;
use oxc_allocator::Allocator;
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_diagnostics::OxcDiagnostic;
use oxc_parser::{Parser, ParserReturn};
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;
use oxc_transformer::{HelperLoaderMode, Module as TargetModule, TransformOptions, Transformer};

use super::commonjs;
use crate::loaded::PlaceMap;

/// Code that can be run, with a source map if it was rewritten.
#[derive(Debug)]
pub(super) struct TranspiledCode {
    pub(super) text: String,
    pub(super) kind: CodeKind,
    /// The specifiers of its import declarations, and those that it gives to `require`.
    pub(super) imports: Vec<String>,
    pub(super) map: Option<PlaceMap>,
}

/// How a file is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CodeKind {
    /// As an ES module, with these names of CommonJS that it uses.
    Module {
        /// The names that have to be defined for it.
        names: Vec<&'static str>,
    },
    /// As a CommonJS module.
    CommonJs {
        /// The names that it exports, as far as its text shows them.
        exports: Vec<String>,
    },
}

/// Whether a file is TypeScript, by its name.
pub(super) fn is_typescript(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["ts", "mts", "cts"].iter().any(|known| ending == *known))
}

/// Parses a file as the runtime does: as a module, or as the older kind of script if it can only be that.
pub(super) fn parse_file<'a>(allocator: &'a Allocator, path: &Path, source: &'a str) -> ParserReturn<'a> {
    if is_typescript(path) {
        return Parser::new(allocator, source, SourceType::ts().with_module(true)).parse();
    }
    let is_script = path.extension().is_some_and(|ending| ending == "cjs");
    let kind = if is_script { SourceType::cjs() } else { SourceType::mjs().with_module(true) };
    let parsed = Parser::new(allocator, source, kind).parse();
    if !is_script && parsed.diagnostics.errors().next().is_some() && !parsed.module_record.has_module_syntax {
        let script = Parser::new(allocator, source, SourceType::cjs()).parse();
        if script.diagnostics.errors().next().is_none() {
            return script;
        }
    }
    parsed
}

/// The code of a file.
pub(super) fn transpile(path: &Path, source: &str) -> Result<TranspiledCode, LoadFailure> {
    let allocator = Allocator::default();
    let parsed = parse_file(&allocator, path, source);
    if let Some(error) = parsed.diagnostics.errors().next() {
        return Err(failure(path, source, error));
    }
    let mut imports: Vec<String> = parsed.module_record.requested_modules.keys().map(ToString::to_string).collect();
    let mut program = parsed.program;
    let uses = commonjs::find_uses(path, source, &program);
    imports.extend(uses.required);
    let kind = uses.kind;
    if !is_typescript(path) && !uses.has_decorators {
        let text = commonjs::without_first_mark(source).into_owned();
        return Ok(TranspiledCode { text, kind, imports, map: None });
    }
    let semantic = SemanticBuilder::new().with_excess_capacity(2.0).with_enum_eval(true).build(&program);
    if let Some(error) = semantic.diagnostics.errors().next() {
        return Err(failure(path, source, error));
    }
    let mut options = TransformOptions::default();
    options.env.module = TargetModule::Preserve;
    options.decorator.legacy = true;
    options.helper_loader.mode = HelperLoaderMode::External;
    let transformed =
        Transformer::new(&allocator, path, &options).build_with_scoping(semantic.semantic.into_scoping(), &mut program);
    if let Some(error) = transformed.diagnostics.errors().next() {
        return Err(failure(path, source, error));
    }
    if matches!(kind, CodeKind::CommonJs { .. }) {
        // What is left of imports of types.
        program.body.retain(|statement| !commonjs::is_empty_export(statement));
    }
    let options = CodegenOptions { source_map_path: Some(path.to_owned()), ..CodegenOptions::default() };
    let printed = Codegen::new().with_options(options).build(&program);
    let map = printed.map.as_ref().map(|map| {
        let tokens = map.get_tokens();
        tokens
            .map(|token| ((token.get_dst_line(), token.get_dst_col()), (token.get_src_line(), token.get_src_col())))
            .collect()
    });
    Ok(TranspiledCode { text: printed.code, kind, imports, map })
}

/// Parses a script for Node or another program that runs JavaScript and TypeScript files, without running it. Such a
/// file may be a module or a script of the older kind, so only a text that is neither has a syntax error.
///
/// # Errors
///
/// The first syntax error, with its place.
pub fn check_script_syntax(path: &Path, source: &str) -> Result<(), LoadFailure> {
    let is_typescript = path.extension().is_some_and(|ending| ending == "ts" || ending == "mts" || ending == "cts");
    let module = if is_typescript { SourceType::ts() } else { SourceType::mjs() }.with_module(true);
    let first_error = |kind: SourceType| {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, source, kind).parse();
        parsed.diagnostics.errors().next().map(|error| failure(path, source, error))
    };
    match first_error(module).map(|error| (error, first_error(SourceType::cjs()))) {
        Some((error, Some(_))) => Err(error),
        Some((_, None)) | None => Ok(()),
    }
}

fn failure(path: &Path, source: &str, error: &OxcDiagnostic) -> LoadFailure {
    let failure = LoadFailure::new(error.message.to_string());
    match error.labels.iter().next() {
        Some(label) => {
            let (line, column) = position(source, usize::try_from(label.offset()).unwrap_or(0));
            failure.at(path, line, column)
        }
        None => failure,
    }
}

/// Line and column from one, the column in characters.
pub(super) fn position(source: &str, offset: usize) -> (u32, u32) {
    let before = source.get(..offset.min(source.len())).unwrap_or(source);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(source: &str) -> String {
        transpile(Path::new("/x.ts"), source).unwrap().text
    }

    #[test]
    fn a_script_may_be_of_either_kind() {
        let check = |name: &str, source: &str| check_script_syntax(Path::new(name), source).is_ok();
        assert!(check("/x.js", "const fs = require('fs');\nif (fs) return;\n"));
        assert!(check("/x.js", "import fs from 'node:fs';\nawait fs;\n"));
        assert!(check("/x.ts", "const a: number = 1;\nexport { a };\n"));
        assert!(!check("/x.js", "const a = ;\n"));
    }

    #[test]
    fn types_vanish_and_values_stay() {
        let source = "import type { A } from 'pkg';\nimport { B } from 'other';\nimport { C } from './c';\n\
                      enum E { One = 1 }\nexport default (x: A, y: B) => C(x as unknown as string, E.One satisfies number);";
        let code = code(source);
        assert!(!code.contains("pkg") && !code.contains("other"), "{code}");
        assert!(code.contains("./c") && code.contains("E"), "{code}");
    }

    #[test]
    fn a_syntax_error_has_its_place() {
        let error = transpile(Path::new("/x.ts"), "const a = 1;\nconst b = ;\n").unwrap_err();
        let place = error.place.unwrap();
        assert_eq!((place.line, place.column), (2, 11));
        assert!(transpile(Path::new("/x.js"), "let a: number = 1").is_err(), "types are for TypeScript");
    }
}
