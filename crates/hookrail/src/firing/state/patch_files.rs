//! Hooks that are asked about each file of a patch.

use super::Firing;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::snapshot::Snapshot;
use crate::event::Event;
use crate::firing::AskedAbout;
use crate::firing::plan::{PartPlan, Plan, PlannedHook};
use crate::outcome::skips::{SkipReason, Skipped};
use crate::tools::View;

/// The files of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatchFiles {
    /// Hooks are asked about them after the patch itself; those that match both are asked about what is named here.
    Ahead(AskedAbout),
    /// There are none, or their parts are among the others.
    InTurn,
}

impl PatchFiles {
    /// Whether hooks are asked about files of a patch, and about what those are asked that match the patch and the files: where
    /// the patch itself names files, about them.
    pub(super) fn of(snapshot: &Snapshot, plan: &Plan, event: &Event) -> Self {
        if !plan.hooks().any(|(_, planned)| !planned.file_tools.is_empty()) {
            return Self::InTurn;
        }
        let in_parts = snapshot.tools.files_of_patch(event).is_ok_and(|files| files.is_in_parts);
        Self::Ahead(if in_parts { AskedAbout::EachFile } else { AskedAbout::Event })
    }
}

impl Firing {
    /// The hooks that are asked about the files of a patch, part by part.
    pub(super) fn asked_about_files(&self) -> Vec<(PartPlan, Vec<PlannedHook>)> {
        let PatchFiles::Ahead(both) = self.files else { return Vec::new() };
        let is_asked = |part: &PartPlan| match part.about {
            AskedAbout::EachFile => true,
            AskedAbout::Event => both == AskedAbout::EachFile,
            AskedAbout::Patch => false,
        };
        let asked = |part: &PartPlan| {
            let hooks: Vec<PlannedHook> =
                part.hooks.iter().filter(|planned| !planned.file_tools.is_empty()).cloned().collect();
            (part.clone(), hooks)
        };
        let parts = self.plan.parts.iter().filter(|part| is_asked(part)).map(asked);
        parts.filter(|(_, hooks)| !hooks.is_empty()).collect()
    }

    /// Adds a part for each file of the patch, as hooks that were asked about the patch itself left it.
    pub(super) fn add_files(&mut self) {
        let asked = self.asked_about_files();
        self.files = PatchFiles::InTurn;
        if asked.is_empty() {
            return;
        }
        let files = match self.snapshot.tools.files_of_patch(&self.event) {
            Ok(files) => files,
            Err(unreadable) => {
                let why = unreadable.to_string();
                for planned in asked.iter().flat_map(|(_, hooks)| hooks) {
                    self.outcome.skipped.extend([Skipped::new(&planned.hook, SkipReason::ChainEnded, why.as_str())]);
                }
                self.refuse(self.parts.len(), Diagnostic::new(Code::PatchUnusable, why), "the patch cannot be read");
                return;
            }
        };
        for (part, hooks) in asked {
            let part = PartPlan { hooks, ..part };
            for (at, tool) in files.tools.iter().enumerate() {
                self.add_part(&part, View::File(at), |planned| planned.file_tools.contains(tool));
            }
        }
    }
}
