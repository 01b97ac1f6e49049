//! What a call does with files, command lines and URLs, as far as its arguments say it.

use std::path::Path;

use super::assembled::{ToolMeaning, ToolTable, carrier_among};
use super::patch::{Operation, Patch, PatchError, resolve};
use super::table::{COMMAND, NeutralTool, PATCH, PATH, ToolAccess, URL};
use crate::json::{Json, JsonObject};

/// One thing that a call does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallAccess {
    /// What it does: never [`ToolAccess::Patch`], which is a write of each file, never [`ToolAccess::Calls`], which is what the calls do,
    /// and never [`ToolAccess::Other`].
    pub access: ToolAccess,
    /// With what: an absolute path, which may go through links, a command line or a URL.
    pub object: String,
}

/// A call whose accesses are not known, because its patch cannot be read. It could write anywhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the patch cannot be read: {0}")]
pub struct UnreadablePatch(pub(super) PatchError);

/// A call that changes files by a patch.
#[derive(Clone, Debug)]
pub(super) struct PatchedFiles {
    /// The argument with the patch.
    pub(super) argument: &'static str,
    /// The patch, if it is in the form that can be written again.
    pub(super) patch: Option<Patch>,
    /// What it does with each file.
    pub(super) operations: Vec<Operation>,
}

impl ToolTable {
    /// What a call of a tool does with files, command lines and URLs. A tool that is not known does what its arguments could mean.
    ///
    /// # Errors
    ///
    /// The call is a patch that cannot be read.
    ///
    /// ```
    /// use hookrail::Json;
    /// use hookrail::tools::{ToolAccess, ToolTable};
    ///
    /// let input = Json::parse(r#"{"path":".env"}"#).unwrap();
    /// let accesses = ToolTable::default().accesses("write_file", &input, "/project".as_ref()).unwrap();
    /// assert_eq!((accesses[0].access, accesses[0].object.as_str()), (ToolAccess::Write, "/project/.env"));
    /// ```
    pub fn accesses(&self, name: &str, input: &Json, directory: &Path) -> Result<Vec<CallAccess>, UnreadablePatch> {
        let members = input.as_object().unwrap_or_default();
        self.accesses_among(name, self.meaning_among(name, Some(&members)), &members, directory)
    }

    /// The same, for a call whose meaning and whose members are known.
    pub(crate) fn accesses_among(
        &self,
        name: &str,
        meaning: ToolMeaning,
        members: &JsonObject,
        directory: &Path,
    ) -> Result<Vec<CallAccess>, UnreadablePatch> {
        let mut found = Accesses { members, directory, found: Vec::new() };
        match meaning {
            ToolMeaning::AsGiven => {}
            ToolMeaning::Known(tool) => match tool.access {
                ToolAccess::Read | ToolAccess::Write => found.add_paths(tool.access, self.names_of(tool, PATH)),
                ToolAccess::Run => found.add(tool.access, self.names_of(tool, COMMAND)),
                ToolAccess::Fetch => found.add(tool.access, self.names_of(tool, URL)),
                ToolAccess::Patch => {
                    let patched = self.patched_files(members, directory).map_err(UnreadablePatch)?;
                    for object in patched.operations.iter().filter_map(Operation::path) {
                        found.push(ToolAccess::Write, object);
                    }
                }
                ToolAccess::Calls => {
                    for (name, input) in self.carried_calls(tool, name, members) {
                        for CallAccess { access, object } in self.accesses(&name, &input, directory)? {
                            found.push(access, object);
                        }
                    }
                }
                ToolAccess::Other => {}
            },
            ToolMeaning::Unknown(carried) | ToolMeaning::Ambiguous(carried) => {
                for access in [ToolAccess::Read, ToolAccess::Write].into_iter().filter(|access| carried.covers(*access))
                {
                    found.add_paths(access, self.names_anywhere(PATH));
                }
                if carried.covers(ToolAccess::Run) {
                    found.add(ToolAccess::Run, self.names_anywhere(COMMAND));
                }
            }
        }
        Ok(found.found)
    }

    /// What a patch does, file by file. A text that is no patch is a change of the file that the call names beside it.
    pub(super) fn patched_files(&self, members: &JsonObject, directory: &Path) -> Result<PatchedFiles, PatchError> {
        let names = NeutralTool::find("apply_patch").into_iter().flat_map(|tool| self.names_of(tool, PATCH));
        let argument = carrier_among(names, members).ok_or(PatchError::NoText)?;
        let text = members.get(argument).and_then(Json::as_str).ok_or(PatchError::NoText)?;
        let error = match Patch::parse(&text) {
            Ok(patch) => {
                let operations = patch.operations(directory);
                return Ok(PatchedFiles { argument, patch: Some(patch), operations });
            }
            Err(error) => error,
        };
        let path = carrier_among(self.names_anywhere(PATH), members).and_then(|name| members.get(name)?.as_str());
        let path = path.map(|path| resolve(directory, &path)).ok_or(error)?;
        let lines = |mark: char, header: &str| {
            let marked = text.lines().filter(|line| !line.starts_with(header));
            marked.filter_map(|line| line.strip_prefix(mark)).map(|line| format!("{line}\n")).collect::<String>()
        };
        let operation = Operation::of_path(&path, &lines('-', "---"), &lines('+', "+++"));
        Ok(PatchedFiles { argument, patch: None, operations: vec![operation] })
    }
}

struct Accesses<'a> {
    members: &'a JsonObject,
    directory: &'a Path,
    found: Vec<CallAccess>,
}

impl Accesses<'_> {
    /// Adds what the input has under any of these names: which of them a tool reads is only known if the host is.
    fn add(&mut self, access: ToolAccess, names: impl Iterator<Item = &'static str>) {
        for object in names.filter_map(|name| self.members.get(name)?.as_str()) {
            self.push(access, object);
        }
    }

    fn add_paths(&mut self, access: ToolAccess, names: impl Iterator<Item = &'static str>) {
        for path in names.filter_map(|name| self.members.get(name)?.as_str()) {
            self.push(access, resolve(self.directory, &path));
        }
    }

    fn push(&mut self, access: ToolAccess, object: String) {
        let found = CallAccess { access, object };
        if !self.found.contains(&found) {
            self.found.push(found);
        }
    }
}
