//! Values of words and paths, as far as the line itself gives them.

mod parameter;
mod path;
mod value;
mod world;

pub(crate) use parameter::{change_case, has_marks, matches_pattern, remove, replace, substring};
pub(crate) use path::{base_name, join, normal, parent};
pub(crate) use value::{ANY, BRACKET, HOLE, Hole, ONE, PIPE, TRACKED, Value, is_pattern, shown, with_marks};
pub(crate) use world::{Function, Origin, Variable, World};
