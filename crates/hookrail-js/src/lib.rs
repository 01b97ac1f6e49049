//! Runs hookrail's module hooks on an embedded JavaScript engine.
#![forbid(unsafe_code)]
