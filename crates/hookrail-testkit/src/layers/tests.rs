use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;

/// A workspace with two crates. `low` has the modules `bottom`, `middle` and `top`; `high` depends on it.
struct Workspace(TempDir);

const ORDER: &str = r#"
    crates = ["low", "high"]
    [modules]
    low = ["bottom", "middle", "top"]
"#;

impl Workspace {
    fn new() -> Self {
        let workspace = Self(TempDir::new().unwrap());
        workspace.write("layers.toml", ORDER);
        workspace.write("crates/low/Cargo.toml", "[package]\nname = \"low\"\n");
        let depends = "[package]\nname = \"high\"\n[dependencies]\nlow.workspace = true\nserde = \"1\"\n";
        workspace.write("crates/high/Cargo.toml", depends);
        workspace.write("crates/high/src/main.rs", "fn main() { low::run(); }");
        workspace.write("crates/low/src/lib.rs", "mod bottom;\nmod middle;\nmod top;\npub use top::Lamp;\n");
        workspace.write("crates/low/src/bottom.rs", "pub struct Wick;");
        workspace.write("crates/low/src/middle.rs", "use crate::bottom::Wick;");
        workspace.write("crates/low/src/top.rs", "use crate::{bottom::Wick, middle};\npub struct Lamp(Wick);");
        workspace
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn check(&self) -> Vec<LayerViolation> {
        check(self.0.path()).unwrap()
    }

    /// The imports against the order, as `from -> to`, when `bottom` holds this source.
    fn imports_of_bottom(source: &str) -> Vec<String> {
        let workspace = Self::new();
        workspace.write("crates/low/src/bottom.rs", source);
        imports(&workspace.check())
    }
}

fn imports(violations: &[LayerViolation]) -> Vec<String> {
    let shown = |violation: &LayerViolation| match violation {
        LayerViolation::Import { from, to, .. } => format!("{from} -> {to}"),
        other => panic!("{other}"),
    };
    violations.iter().map(shown).collect()
}

#[test]
fn what_keeps_the_order_is_allowed() {
    assert_eq!(Workspace::new().check(), []);
}

#[test]
fn every_way_to_write_an_import_is_seen() {
    for source in [
        "use crate::middle::Wax;",
        "use crate::{self as all, middle::Wax};",
        "use std::{fmt, io};\npub(crate) mod inner { use crate::{a::b, c::{d, middle}, middle::{deep::{Er, Est}}}; }",
        "use super::middle::Wax;",
        "use super::{middle as wax};",
        "use super::super::low; use super::middle;",
        "use crate::middle; fn f() { middle::melt() }",
        "fn f() { crate::middle::melt() }",
        "fn f() { super::middle::melt() }",
        "fn f() -> <A as crate::middle::Wax>::Heat { todo!() }",
        "macro_rules! m { () => { $crate::middle::melt() } }",
        "fn f() { use crate::middle::melt; }",
        "use crate::middle::*;",
        "#[serde(default = \"crate::middle::melt\")] struct S;",
        "struct S { #[arg(value_parser = crate::middle::melt(), long)] a: u8 }",
        "use crate::middle::Wax as Candle; pub type C = Candle;",
        "pub use crate::middle::Wax; fn f(_: Wax) {}",
        "#[cfg(not(test))] use crate::middle::Wax;",
        "#[cfg(any(test, unix))] use crate::middle::Wax;",
        "#[cfg(test)] fn t<A, B>(x: [u8; 3]) { }\nuse crate::middle::Wax;",
        "#[cfg(test)] const T: T = T { a: 1 };\nuse crate::middle::Wax;",
        "struct S { #[cfg(test)] a: u8, b: crate::middle::Wax }",
        "const QUOTE: char = '\"'; use crate::middle::Wax; const OTHER: char = '\"';",
    ] {
        assert_eq!(Workspace::imports_of_bottom(source), ["bottom -> middle"], "{source}");
    }
}

#[test]
fn what_is_no_import_is_not_taken_for_one() {
    for source in [
        "// use crate::middle::Wax;\n/* crate::middle */",
        "const TEXT: &str = \"crate::middle::Wax\"; const RAW: &str = r#\"crate::middle\"#;",
        "#[cfg(test)] mod tests { use crate::middle::Wax; use super::super::top::Lamp; }",
        "#[cfg(test)] use crate::middle::Wax;",
        "#[cfg(all(unix, test))] #[allow(unused)] pub(crate) use crate::{middle::Wax, top::Lamp};",
        "#[cfg(test)] fn t() { crate::middle::melt() }",
        "struct S { #[cfg(test)] a: crate::middle::Wax, b: u8 }",
        "use middle::Wax; use ::top::Lamp; use std::middle::top;",
        "mod middle { pub struct Wax; } use middle::Wax; use self::middle as wax;",
        "fn middle() {} fn f() { middle(); top::<u8>(); }",
        "pub use crate::middle::Wax;",
        "use crate::{bottom, low}; use super::*;",
    ] {
        assert_eq!(Workspace::imports_of_bottom(source), [""; 0], "{source}");
    }
}

#[test]
fn a_name_that_the_root_or_a_module_passes_on_belongs_to_the_module_that_declares_it() {
    for source in ["use crate::Lamp;", "use crate::{Lamp};", "use super::Lamp;", "fn f(_: crate::Lamp) {}"] {
        assert_eq!(Workspace::imports_of_bottom(source), ["bottom -> top"], "{source}");
    }
    assert_eq!(Workspace::imports_of_bottom("use super::*; fn f(_: Lamp) {}"), ["bottom -> top"]);
    // Under another name, through a private import of the root, and through two modules.
    let workspace = Workspace::new();
    let root = "mod bottom;\nmod middle;\nmod top;\nuse top as head;\npub use middle::*;";
    workspace.write("crates/low/src/lib.rs", root);
    workspace.write("crates/low/src/middle.rs", "pub use crate::top::Lamp;");
    workspace.write("crates/low/src/bottom.rs", "use crate::head::Oil;");
    assert_eq!(imports(&workspace.check()), ["bottom -> top"]);
    workspace.write("crates/low/src/bottom.rs", "use crate::middle::Lamp;");
    assert_eq!(imports(&workspace.check()), ["bottom -> top"]);
    workspace.write("crates/low/src/bottom.rs", "use crate::Lamp;");
    assert_eq!(imports(&workspace.check()), ["bottom -> top"]);
}

#[test]
fn a_file_inside_a_module_is_read_with_its_own_super() {
    let workspace = Workspace::new();
    workspace.write("crates/low/src/bottom.rs", "mod deep;\nmod other { mod deeper; }");
    workspace.write("crates/low/src/bottom/deep.rs", "use super::other; use super::super::bottom::other as o;");
    workspace.write("crates/low/src/bottom/other/deeper.rs", "");
    assert_eq!(workspace.check(), []);
    workspace.write("crates/low/src/bottom/other/deeper.rs", "\nuse super::super::super::middle::Wax;");
    let expected = LayerViolation::Import {
        program: "low".to_owned(),
        from: "bottom".to_owned(),
        to: "middle".to_owned(),
        places: vec!["crates/low/src/bottom/other/deeper.rs:2: super::super::super::middle::Wax".to_owned()],
    };
    assert_eq!(workspace.check(), [expected]);
    workspace.write("crates/low/src/bottom.rs", "#[path = \"elsewhere.rs\"]\nmod deep;");
    workspace.write("crates/low/src/elsewhere.rs", "use crate::top::Lamp;");
    assert_eq!(imports(&workspace.check()), ["bottom -> top"]);
    workspace.write("crates/low/src/bottom.rs", "mod missing;");
    assert!(matches!(check(workspace.0.path()), Err(LayersError::NoFile { .. })));
    workspace.write("crates/low/src/bottom.rs", "#[cfg(test)] mod missing;");
    assert_eq!(workspace.check(), []);
}

#[test]
fn what_has_no_line_and_what_has_one_for_nothing_fails() {
    let workspace = Workspace::new();
    workspace.write("crates/low/src/lib.rs", "mod bottom;\nmod middle;\nmod extra {}\n");
    workspace.write("crates/third/Cargo.toml", "[package]\nname = \"third\"\n");
    workspace.write("crates/low/src/bin/tool/main.rs", "mod part;\nfn main() {}");
    workspace.write("crates/low/src/bin/tool/part.rs", "");
    let unlisted = |program: &str, module: &str| LayerViolation::UnlistedModule {
        program: program.to_owned(),
        module: module.to_owned(),
    };
    let expected = [
        LayerViolation::UnlistedCrate("third".to_owned()),
        LayerViolation::StrayLine("low::top".to_owned()),
        unlisted("low", "extra"),
        unlisted("low/tool", "part"),
    ];
    assert_eq!(workspace.check(), expected);
    workspace.write("layers.toml", &ORDER.replace("\"high\"]", "\"high\", \"gone\", \"low\", \"third\"]"));
    let stray: Vec<LayerViolation> = workspace.check().into_iter().take(2).collect();
    assert_eq!(stray, ["gone", "low"].map(|name| LayerViolation::StrayLine(name.to_owned())));
}

#[test]
fn a_crate_does_not_depend_on_one_above_it() {
    for table in ["dependencies", "dev-dependencies", "build-dependencies", "target.'cfg(unix)'.dependencies"] {
        for line in ["high.workspace = true", "other = { package = \"high\", path = \"../high\" }"] {
            let workspace = Workspace::new();
            workspace.write("crates/low/Cargo.toml", &format!("[package]\nname = \"low\"\n[{table}]\n{line}\n"));
            let expected = LayerViolation::CrateDependency { from: "low".to_owned(), to: "high".to_owned() };
            assert_eq!(workspace.check(), [expected], "{table} {line}");
        }
    }
}

#[test]
fn a_permitted_import_is_allowed_while_it_exists() {
    let workspace = Workspace::new();
    workspace.write("layers.toml", &format!("{ORDER}\n[permitted]\nlow = [\"bottom -> top\"]\n"));
    workspace.write("crates/low/src/bottom.rs", "use crate::top::Lamp;");
    assert_eq!(workspace.check(), []);
    workspace.write("crates/low/src/bottom.rs", "");
    let stale = LayerViolation::StalePermission { program: "low".to_owned(), edge: "bottom -> top".to_owned() };
    assert_eq!(workspace.check(), [stale]);
    // A module inside another one can be permitted alone.
    workspace.write("layers.toml", &format!("{ORDER}\n[permitted]\nlow = [\"bottom -> top::oil\"]\n"));
    workspace.write("crates/low/src/top.rs", "pub mod oil { pub struct Can; }\npub struct Lamp;");
    workspace.write("crates/low/src/bottom.rs", "use crate::top::oil::Can;");
    assert_eq!(workspace.check(), []);
    workspace.write("crates/low/src/bottom.rs", "use crate::top::{Lamp, oil::Can};");
    assert_eq!(imports(&workspace.check()), ["bottom -> top"]);
    // One that keeps the order needs no permission.
    workspace.write("crates/low/src/bottom.rs", "");
    workspace.write("crates/low/src/top.rs", "use crate::bottom::Wick;");
    workspace.write("layers.toml", &format!("{ORDER}\n[permitted]\nlow = [\"top -> bottom\"]\n"));
    let stale = LayerViolation::StalePermission { program: "low".to_owned(), edge: "top -> bottom".to_owned() };
    assert_eq!(workspace.check(), [stale]);
}

#[test]
fn modules_that_are_kept_apart_do_not_use_each_other() {
    let workspace = Workspace::new();
    workspace.write("layers.toml", &format!("{ORDER}\n[apart]\nlow = [[\"top::oil\", \"top::gas\"]]\n"));
    workspace.write("crates/low/src/top.rs", "mod gas;\nmod oil;\nmod shared;\npub struct Lamp;");
    workspace.write("crates/low/src/top/gas.rs", "mod pipe { use super::super::shared; }\npub struct Pipe;");
    workspace.write("crates/low/src/top/oil.rs", "use super::{Lamp, shared::Wick};");
    workspace.write("crates/low/src/top/shared.rs", "use super::gas::Pipe;");
    assert_eq!(workspace.check(), []);
    workspace.write("crates/low/src/top/oil.rs", "use super::{gas::Pipe};");
    let expected = LayerViolation::Together {
        program: "low".to_owned(),
        from: "top::oil".to_owned(),
        to: "top::gas".to_owned(),
        places: vec!["crates/low/src/top/oil.rs:1: super::gas::Pipe".to_owned()],
    };
    assert_eq!(workspace.check(), [expected]);
    workspace.write("crates/low/src/top.rs", "mod oil {}\npub struct Lamp;");
    assert_eq!(workspace.check(), [LayerViolation::StrayLine("low::top::gas".to_owned())]);
}

#[test]
fn an_order_that_cannot_be_read_is_an_error() {
    let workspace = Workspace::new();
    workspace.write("layers.toml", &format!("{ORDER}\n[allowed]\n"));
    assert!(matches!(check(workspace.0.path()), Err(LayersError::Malformed(..))));
    assert!(matches!(check(Path::new("/nowhere")), Err(LayersError::Unreadable(..))));
}
