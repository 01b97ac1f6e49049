//! Conformance as data: cases are JSON files, and this runs them against any program that answers like
//! `hookrail fire --json`.
//!
//! A case is a set of files, a command and what must come of it. [`load`] reads a folder of cases and rejects what
//! is malformed; [`run`] runs one case in a folder of its own; [`run_all`] runs many; [`coverage`] says which rules
//! of the specification and which statements of the original documents they show. The format is described in `conformance/README.md`.

mod batch;
mod case;
mod coverage;
mod load;
mod originals;
mod pages;
mod pattern;
mod rules;
mod run;
mod scratch;
#[cfg(unix)]
mod terminal;
#[cfg(not(unix))]
#[path = "conformance/no_terminal.rs"]
mod terminal;
#[cfg(test)]
mod tests;

pub use batch::{CaseSummary, folders, run_all};
pub use case::{CaseExpectation, ConformanceCase, FileExpectation};
pub use coverage::coverage;
pub use load::{LoadError, load};
pub use originals::{OriginalDocument, OriginalStatement, is_test_path, load_originals};
pub use pages::{BLESS_COMMAND, END_OF_TABLE, differences_page, specification_page, specification_table};
pub use pattern::{Mismatch, mismatches};
pub use rules::{ConformanceIndex, NumberedRule, RulePage, RuleSection, conformance_index, load_rules};
pub use run::{CaseVerdict, run};
