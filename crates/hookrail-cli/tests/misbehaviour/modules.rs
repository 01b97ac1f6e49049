//! Rows about modules.
