//! The resolver and the loader that the JavaScript engine calls: which module an import means, and what its source is.

use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use hookrail::module::LoadFailure;
use hookrail::trust::NamedFile;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Exception, Module};

use super::transpile::CodeKind;
use super::{commonjs, resolve, transpile, virtuals};
use crate::limits::StopReason;
use crate::op_error::OpError;
use crate::ops::{FinalLink, require_read};
use crate::shared::{Shared, lent};
use crate::shortage::is_exhausted;
use crate::stack;

/// Resolves imports.
pub(crate) struct FileResolver;

impl Resolver for FileResolver {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        // The hook file itself is imported by the prelude, which is not a file.
        if virtuals::script(base).is_some() {
            return Ok(name.to_owned());
        }
        let shared = lent().ok_or_else(|| Error::new_resolving(base, name))?;
        resolve_import(&shared, base, name).map_err(|failure| {
            let thrown = Exception::throw_message(ctx, &failure.message);
            shared.state().sources.failure = Some(failure);
            thrown
        })
    }
}

pub(super) fn resolve_import(shared: &Shared, base: &str, name: &str) -> Result<String, LoadFailure> {
    let base = if base.starts_with('/') { base } else { "/" };
    let is_in_version =
        |file: &Path| shared.config.version.as_ref().is_some_and(|version| version.bytes(file).is_some());
    let resolved = resolve::resolve(base, name, is_in_version).map_err(|message| {
        // The module is loaded again when one of these files appears.
        let candidates = resolve::candidates_of(base, name).into_iter();
        shared.state().sources.missing.extend(candidates.filter(|path| !path.is_dir()));
        let failure = LoadFailure::new(message);
        match find_import(Path::new(base), name) {
            Some((line, column)) => failure.at(base, line, column),
            None => failure,
        }
    })?;
    check_import(shared, base, name, Path::new(&resolved)).map_err(|error| LoadFailure::new(error.message()))?;
    Ok(resolved)
}

/// Whether a file may be imported. The code of a module is known before it runs: the files of its import declarations,
/// and those that its grant covers. Any other file is chosen while the module runs, so importing it needs the
/// capability to read it. So does data that is not the module's own: importing it is reading it.
fn check_import(shared: &Shared, base: &str, name: &str, path: &Path) -> Result<(), OpError> {
    if !path.is_absolute() {
        return Ok(());
    }
    let import = (base.to_owned(), name.to_owned());
    let is_covered = |file: &NamedFile| file.path == path;
    let is_known = shared.state().sources.static_imports.contains(&import)
        || shared.world().covered.as_ref().is_some_and(|covered| covered.iter().any(is_covered));
    if is_known && (resolve::is_code(path) || is_own(&shared.config.module, path)) {
        return Ok(());
    }
    require_read(shared, path, FinalLink::Followed).map(drop)
}

/// Whether a file lies in the folder of the module or below it, through all links. A file that is gone is in memory since
/// the module was inspected, so only its name is left to judge.
fn is_own(module: &Path, path: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    module.parent().is_some_and(|folder| real(path).starts_with(real(folder)))
}

/// The size in bytes of the largest file that the TypeScript front end parses.
const PARSED_LIMIT: usize = 2 << 20;

/// The number of bytes that are counted for a smaller file, because memory is kept for each file.
const MIN_SOURCE_SIZE: usize = 1 << 10;

/// The size in bytes of the largest file that is searched for the place of an import.
const SEARCHED_LIMIT: usize = 8 << 20;

/// Reads a regular file up to a limit, without ever waiting for it, and one byte more if there is one, so that the caller sees that the file is longer.
pub(super) fn read_up_to(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    hookrail_spawn::open_regular(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The line and column of an import in a file, from one. It is the first place where the specifier is in quotes.
pub(super) fn find_import(file: &Path, specifier: &str) -> Option<(u32, u32)> {
    let source = String::from_utf8(read_up_to(file, SEARCHED_LIMIT).ok()?).ok()?;
    source.lines().zip(1_u32..).find_map(|(line, number)| {
        let quoted = [format!("\"{specifier}\""), format!("'{specifier}'")];
        let at = quoted.iter().find_map(|quoted| line.find(quoted.as_str()))?;
        let column = line.get(..at)?.chars().count();
        Some((number, u32::try_from(column).ok()? + 1))
    })
}

/// Loads the source of a module.
pub(crate) struct FileLoader;

impl Loader for FileLoader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        let shared = lent().ok_or_else(|| Error::new_loading(name))?;
        declare(ctx, &shared, name)
    }
}

/// Makes a module of a built-in module or a file, without running it.
pub(super) fn declare<'js>(ctx: &Ctx<'js>, shared: &Shared, name: &str) -> rquickjs::Result<Module<'js, Declared>> {
    if let Some(source) = virtuals::module(name) {
        return Module::declare(ctx.clone(), name, source);
    }
    let code = load_code(shared, name).map_err(|failure| {
        let thrown = Exception::throw_syntax(ctx, &failure.message);
        shared.state().sources.failure = Some(failure);
        thrown
    })?;
    let module = match &code.kind {
        CodeKind::Module { .. } => Module::declare(ctx.clone(), name, code.text)?,
        CodeKind::CommonJs { exports } => commonjs::declare_facade(ctx, shared, name, code.text, exports)?,
    };
    let meta = module.meta()?;
    meta.set("url", format!("file://{name}"))?;
    // Node names them `filename` and `dirname`, Bun `path` and `dir`.
    for key in ["filename", "path"] {
        meta.set(key, name)?;
    }
    let folder = Path::new(name).parent().unwrap_or(Path::new("")).to_string_lossy();
    for key in ["dirname", "dir"] {
        meta.set(key, folder.as_ref())?;
    }
    Ok(module)
}

/// Code as the engine gets it.
pub(super) struct LoadedCode {
    pub(super) text: String,
    pub(super) kind: CodeKind,
}

impl LoadedCode {
    fn module(text: String) -> Self {
        Self { text, kind: CodeKind::Module { names: Vec::new() } }
    }
}

pub(super) fn load_code(shared: &Shared, name: &str) -> Result<LoadedCode, LoadFailure> {
    let path = Path::new(name);
    let bytes = read_source(shared, path)?;
    check_grant(shared, path, &bytes)?;
    let source = String::from_utf8(bytes.to_vec()).map_err(|_| LoadFailure::new(format!("'{name}' is not UTF-8")))?;
    if path.extension().is_some_and(|ending| ending == "json") {
        serde_json::from_str::<serde::de::IgnoredAny>(&source).map_err(|error| {
            let place = |count: usize| u32::try_from(count).unwrap_or(1).max(1);
            let failure = LoadFailure::new(format!("'{name}' is not valid JSON: {error}"));
            failure.at(path, place(error.line()), place(error.column()))
        })?;
        let text = serde_json::Value::from(source).to_string();
        // Not as an object literal, in which the key `__proto__` would set the prototype.
        return Ok(LoadedCode::module(format!("export default JSON.parse({text});")));
    }
    if source.len() > PARSED_LIMIT {
        return load_unparsed(shared, name, source);
    }
    let code = stack::run_deep(|| transpile::transpile(path, &source)).unwrap_or_else(|| {
        shared.state().exhausted = true;
        Err(LoadFailure::new(format!("there is no thread to read '{name}' on")))
    })?;
    let sources = &mut shared.state().sources;
    sources.static_imports.extend(code.imports.into_iter().map(|import| (name.to_owned(), import)));
    let ahead = match &code.kind {
        CodeKind::Module { names } => commonjs::names_for_module(name, names),
        CodeKind::CommonJs { .. } => String::new(),
    };
    let columns = match &code.kind {
        CodeKind::Module { .. } => ahead.len(),
        CodeKind::CommonJs { .. } => commonjs::BEFORE.len(),
    };
    sources.maps.add(name, code.map, columns);
    Ok(LoadedCode { text: format!("{ahead}{}", code.text), kind: code.kind })
}

/// The code of a file that is too large for the TypeScript front end, which takes up to fifty times the memory of the
/// text. A JavaScript file does not need it: the engine reports syntax errors too.
fn load_unparsed(shared: &Shared, name: &str, source: String) -> Result<LoadedCode, LoadFailure> {
    if name.ends_with("ts") {
        shared.stop(StopReason::Source);
        let most = PARSED_LIMIT >> 20;
        let message = format!("'{name}' has more than {most} MiB of TypeScript; compile it to JavaScript");
        return Err(LoadFailure::new(message));
    }
    let kind = if name.ends_with(".cjs") {
        CodeKind::CommonJs { exports: Vec::new() }
    } else {
        CodeKind::Module { names: Vec::new() }
    };
    shared.state().sources.maps.add(name, None, 0);
    Ok(LoadedCode { text: source, kind })
}

/// The content of a file up to the limit: as it was when the module was inspected, otherwise as it is now.
fn read_source(shared: &Shared, path: &Path) -> Result<Arc<[u8]>, LoadFailure> {
    if let Some(bytes) = shared.config.version.as_ref().and_then(|version| version.bytes(path)) {
        return Ok(bytes);
    }
    let left = shared.config.limits.source.saturating_sub(shared.state().sources.bytes);
    let bytes = read_up_to(path, left).map_err(|error| {
        let mut state = shared.state();
        // The module is loaded again when the file that could not be read changes.
        state.sources.missing.push(path.to_owned());
        state.exhausted |= is_exhausted(&error);
        LoadFailure::new(format!("'{}' cannot be read: {error}", path.display()))
    })?;
    if bytes.len() > left {
        shared.stop(StopReason::Source);
        return Err(LoadFailure::new(format!("'{}' is too large", path.display())));
    }
    let sources = &mut shared.state().sources;
    sources.bytes = sources.bytes.saturating_add(bytes.len().max(MIN_SOURCE_SIZE));
    Ok(bytes.into())
}

/// Refuses a file that has changed since the module was trusted, or that was not covered then.
fn check_grant(shared: &Shared, path: &Path, bytes: &Arc<[u8]>) -> Result<(), LoadFailure> {
    let digest = shared.state().sources.version.add(path, bytes);
    let world = shared.world();
    let Some(covered) = &world.covered else { return Ok(()) };
    match covered.iter().find(|file| file.path == path) {
        Some(file) if file.digest == Some(digest) => Ok(()),
        Some(_) => Err(LoadFailure::new(format!("'{}' has changed since it was trusted", path.display()))),
        None => Err(LoadFailure::new(format!(
            "'{}' was not looked at when the module was trusted; import it by a path that stands in the source",
            path.display()
        ))),
    }
}
