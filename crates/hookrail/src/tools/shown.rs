//! What a hook is shown of a call: the call itself, one file of a patch, or the patch that does the same as a file tool. A rewrite
//! finds its way back into what the host gave.

use std::path::PathBuf;

use super::assembled::{ToolMeaning, ToolTable};
use super::localize::{LocalizedTool, TwoRewrites};
use super::patch::{CallAsPatch, Patch, UnfitPatch, UnpatchableRewrite};
use super::table::{NeutralTool, PATCH, PATH};
use super::{Tools, UnreadablePatch};
use crate::dialect_id::DialectId;
use crate::event::Event;
use crate::json::{Json, JsonObject};

const NAME: &str = "tool_name";
const INPUT: &str = "tool_input";

/// What is shown of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// The call.
    Call,
    /// The operation at this position of a patch.
    File(usize),
    /// The patch that does the same.
    Patch,
}

/// Why a call cannot be shown so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotShown {
    /// Its patch cannot be read.
    #[error(transparent)]
    Unreadable(#[from] UnreadablePatch),
    /// It is no patch.
    #[error(transparent)]
    NoPatch(#[from] UnfitPatch),
}

/// Why an answer cannot be merged into what the tool gets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unmergeable {
    #[error(transparent)]
    Contradiction(#[from] TwoRewrites),
    #[error(transparent)]
    Unfit(#[from] UnfitPatch),
}

/// A rewrite that cannot be put back into the call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a hook changes this patch, and {why}. Make these changes instead: {wanted}")]
pub(crate) struct UnfitRewrite {
    why: String,
    wanted: String,
}

/// A call as a hook is shown it, with what is needed to translate it back.
#[derive(Debug, Default)]
pub(crate) struct ShownTool {
    localized: LocalizedTool,
    otherwise: Option<Box<ShownOtherwise>>,
}

/// A call that is shown as something else.
#[derive(Debug)]
struct ShownOtherwise {
    name: Json,
    input: Json,
    shown: Json,
    form: Form,
}

#[derive(Debug)]
enum Form {
    File { at: usize, patch: Option<Patch>, argument: &'static str, directory: PathBuf },
    Patch { call: CallAsPatch, argument: &'static str, carriers: Carriers },
}

/// The names under which a call has the arguments of a file tool.
#[derive(Clone, Copy, Debug, Default)]
struct Carriers {
    path: Option<&'static str>,
    content: Option<&'static str>,
    old: Option<&'static str>,
    new: Option<&'static str>,
}

impl Tools {
    /// Shows an event to the hooks of a dialect, in its names.
    pub(crate) fn show(
        &self,
        dialect: DialectId,
        meaning: ToolMeaning,
        view: View,
        event: &mut Event,
    ) -> Result<ShownTool, NotShown> {
        let other = match (view, meaning, self.table()) {
            (View::File(at), _, Some(table)) => Some(table.show_file(at, event)?),
            (View::Patch, ToolMeaning::Known(tool), Some(table)) => Some(table.show_patch(tool, event)?),
            (View::Call | View::Patch, ..) | (View::File(_), _, None) => None,
        };
        let Some((tool, shown, form)) = other else {
            return Ok(ShownTool { localized: self.localize_event(dialect, meaning, event), otherwise: None });
        };
        let given = |field: &str| event.field(field).cloned().unwrap_or_else(Json::null);
        let otherwise = ShownOtherwise { name: given(NAME), input: given(INPUT), shown: shown.clone(), form };
        event.set(NAME, Json::string(tool.name));
        event.set(INPUT, shown);
        let localized = self.localize_event(dialect, ToolMeaning::Known(tool), event);
        Ok(ShownTool { localized, otherwise: Some(Box::new(otherwise)) })
    }

    /// The files of a patch, in order.
    pub(crate) fn files_of_patch(&self, event: &Event) -> Result<PatchFiles, UnreadablePatch> {
        let members = event.field(INPUT).and_then(Json::as_object).unwrap_or_default();
        let Some(table) = self.table() else { return Ok(PatchFiles::default()) };
        let patched = table.patched_files(&members, event.cwd()).map_err(UnreadablePatch)?;
        let tools = patched.operations.iter().map(|operation| operation.tool).collect();
        Ok(PatchFiles { tools, is_in_parts: patched.patch.is_some() })
    }
}

/// The files of a patch.
#[derive(Clone, Debug, Default)]
pub(crate) struct PatchFiles {
    /// The neutral tool that does the same, for each operation.
    pub(crate) tools: Vec<&'static str>,
    /// Whether the patch itself names its files.
    pub(crate) is_in_parts: bool,
}

type Shown = (&'static NeutralTool, Json, Form);

impl ToolTable {
    fn show_file(&self, at: usize, event: &Event) -> Result<Shown, NotShown> {
        let members = event.field(INPUT).and_then(Json::as_object).unwrap_or_default();
        let patched = self.patched_files(&members, event.cwd()).map_err(UnreadablePatch)?;
        let operation = patched.operations.into_iter().nth(at).ok_or(UnfitPatch::OtherFiles)?;
        let tool = NeutralTool::find(operation.tool).ok_or(UnfitPatch::OtherChange)?;
        let directory = event.cwd().to_owned();
        Ok((tool, operation.input, Form::File { at, patch: patched.patch, argument: patched.argument, directory }))
    }

    fn show_patch(&self, tool: &'static NeutralTool, event: &Event) -> Result<Shown, NotShown> {
        let members = event.field(INPUT).and_then(Json::as_object).unwrap_or_default();
        let hosts = self.entries_at_hosts(tool, &event.text(NAME).unwrap_or_default());
        let carrier = |argument: &str| self.carrier(tool, argument, &hosts, &members);
        let carriers = Carriers {
            path: carrier(PATH),
            content: carrier("content"),
            old: carrier("old_string"),
            new: carrier("new_string"),
        };
        let text = |name: Option<&str>| members.get(name?)?.as_str();
        let path = text(carriers.path).unwrap_or_default();
        let call = match (tool.name, text(carriers.content), text(carriers.old), text(carriers.new)) {
            ("write_file", content, ..) => CallAsPatch::Write { path, content: content.unwrap_or_default() },
            (_, _, Some(old), Some(new)) => CallAsPatch::Replace { path, old, new },
            _ => CallAsPatch::Change { path },
        };
        let patch = NeutralTool::find("apply_patch").ok_or(UnfitPatch::OtherChange)?;
        let argument = self.names_of(patch, PATCH).next().unwrap_or(PATCH);
        let text = Json::string(&call.to_text()?);
        let shown = [(argument.to_owned(), text)].into_iter().collect::<JsonObject>().to_json();
        Ok((patch, shown, Form::Patch { call, argument, carriers }))
    }
}

impl ShownTool {
    /// The tool input of an answer with all names of each argument in step, given the input that the hook was sent. Nothing if
    /// the answer needs no change.
    pub(crate) fn merge_input(&self, sent: &Json, answered: &Json) -> Result<Option<Json>, Unmergeable> {
        let merged = self.localized.merge_input(sent, answered)?;
        if let Some(otherwise) = &self.otherwise
            && let Form::Patch { call, argument, .. } = &otherwise.form
        {
            let answered = merged.as_ref().unwrap_or(answered);
            let own = self.localized.in_hosts_names(answered).unwrap_or_else(|| answered.clone());
            patched_call(call, argument, &own)?;
        }
        Ok(merged)
    }

    /// Translates the event back into what the host gave. An input that no hook changed is restored byte for byte.
    pub(crate) fn restore_event(self, event: &mut Event) -> Result<(), UnfitRewrite> {
        self.localized.restore_event(event);
        let Some(otherwise) = self.otherwise else { return Ok(()) };
        let ShownOtherwise { name, input, shown, form } = *otherwise;
        let rewritten = event.field(INPUT).cloned().unwrap_or_else(Json::null);
        event.set(NAME, name);
        event.set(INPUT, input.clone());
        if rewritten.same_as(&shown) {
            return Ok(());
        }
        let changed = match form {
            Form::File { at, patch, argument, directory } => match patch {
                Some(patch) => patch
                    .with_rewrite(&directory, at, &rewritten)
                    .map(|patch| with_text(&input, Some(argument), &patch.to_text()))
                    .map_err(|error| error.to_string()),
                None => Err(UnpatchableRewrite::NotWritable.to_string()),
            },
            Form::Patch { call, argument, carriers } => patched_call(&call, argument, &rewritten)
                .map(|changed| carriers.put(&input, &changed))
                .map_err(|error| error.to_string()),
        };
        match changed {
            Ok(changed) => {
                event.set(INPUT, changed);
                Ok(())
            }
            Err(why) => Err(UnfitRewrite { why, wanted: rewritten.text().to_owned() }),
        }
    }
}

/// What a call does with the patch that an answer makes of it.
fn patched_call(call: &CallAsPatch, argument: &str, answered: &Json) -> Result<CallAsPatch, UnfitPatch> {
    let members = answered.as_object().ok_or(UnfitPatch::Unreadable)?;
    if members.iter().any(|(name, _)| name != argument) {
        return Err(UnfitPatch::OtherArgument);
    }
    match members.get(argument) {
        None => Ok(call.clone()),
        Some(text) => call.with_patch(&text.as_str().ok_or(UnfitPatch::Unreadable)?),
    }
}

impl Carriers {
    /// The input with what the call does now, under the names that the host gave.
    fn put(self, input: &Json, call: &CallAsPatch) -> Json {
        match call {
            CallAsPatch::Write { path, content } => {
                let input = with_text(input, self.path, path);
                with_text(&input, self.content.or(Some("content")), content)
            }
            CallAsPatch::Replace { path, old, new } => {
                let input = with_text(input, self.path, path);
                with_text(&with_text(&input, self.old, old), self.new, new)
            }
            CallAsPatch::Change { path } => with_text(input, self.path, path),
        }
    }
}

fn with_text(input: &Json, name: Option<&str>, text: &str) -> Json {
    let Some(name) = name else { return input.clone() };
    let mut members = input.as_object().unwrap_or_default();
    members.set(name, Json::string(text));
    members.to_json()
}
