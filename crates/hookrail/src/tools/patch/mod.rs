//! Patches: one call that changes many files.
//!
//! `format` reads and writes the text, `operations` shows the patch file by file and puts a rewrite of one file back, and `call`
//! says the same about a call of a file tool as a patch of that file.

mod call;
mod format;
mod operations;

pub(super) use call::{CallAsPatch, UnfitPatch};
pub(super) use format::{Patch, PatchError};
pub(super) use operations::{Operation, UnpatchableRewrite, resolve};
