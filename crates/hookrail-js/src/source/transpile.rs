//! Turns TypeScript into JavaScript with a full parser, and reports syntax errors with their place.

use std::path::Path;

use hookrail::module::LoadFailure;
use oxc::allocator::Allocator;
use oxc::codegen::{Codegen, CodegenOptions};
use oxc::diagnostics::OxcDiagnostic;
use oxc::parser::Parser;
use oxc::semantic::SemanticBuilder;
use oxc::span::SourceType;
use oxc::transformer::{TransformOptions, Transformer};

use super::maps::PlaceMap;

/// Code that can be run, with a source map if it was rewritten.
#[derive(Debug)]
pub(super) struct TranspiledCode {
    pub(super) text: String,
    /// The specifiers of its import declarations.
    pub(super) imports: Vec<String>,
    pub(super) map: Option<PlaceMap>,
}

/// The code of a file.
pub(super) fn transpile(path: &Path, source: &str) -> Result<TranspiledCode, LoadFailure> {
    let is_typescript = path.extension().is_some_and(|ending| ending == "ts" || ending == "mts");
    let kind = if is_typescript { SourceType::ts() } else { SourceType::mjs() }.with_module(true);
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, kind).parse();
    if let Some(error) = parsed.diagnostics.errors().next() {
        return Err(failure(path, source, error));
    }
    let imports = parsed.module_record.requested_modules.keys().map(ToString::to_string).collect();
    if !is_typescript {
        return Ok(TranspiledCode { text: source.to_owned(), imports, map: None });
    }
    let mut program = parsed.program;
    let semantic = SemanticBuilder::new().with_excess_capacity(2.0).with_enum_eval(true).build(&program);
    if let Some(error) = semantic.diagnostics.errors().next() {
        return Err(failure(path, source, error));
    }
    let options = TransformOptions::default();
    let transformed =
        Transformer::new(&allocator, path, &options).build_with_scoping(semantic.semantic.into_scoping(), &mut program);
    if let Some(error) = transformed.diagnostics.errors().next() {
        return Err(failure(path, source, error));
    }
    let options = CodegenOptions { source_map_path: Some(path.to_owned()), ..CodegenOptions::default() };
    let printed = Codegen::new().with_options(options).build(&program);
    let map = printed.map.as_ref().map(|map| {
        let tokens = map.get_tokens();
        tokens
            .map(|token| ((token.get_dst_line(), token.get_dst_col()), (token.get_src_line(), token.get_src_col())))
            .collect()
    });
    Ok(TranspiledCode { text: printed.code, imports, map })
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
