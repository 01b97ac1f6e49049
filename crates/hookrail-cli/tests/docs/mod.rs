//! One module for each kind of thing that a document can claim.

mod console;
mod cookbook;
mod embedding;
mod links;
mod markdown;
mod sandbox;
mod scripts;
mod settings;
mod tables;
