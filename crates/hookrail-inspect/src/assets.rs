//! The files of the page, as part of the program.

use axum::http::HeaderValue;

/// A file of the page.
pub(crate) struct Asset {
    pub(crate) media_type: HeaderValue,
    pub(crate) text: &'static str,
}

/// The document.
pub(crate) const INDEX: &str = include_str!("../page/index.html");

/// The style sheet.
pub(crate) const STYLE: &str = include_str!("../page/style.css");

macro_rules! modules {
    ($($name:literal),+ $(,)?) => {
        /// The scripts: a module imports only modules before it.
        pub(crate) const MODULES: &[(&str, &str)] = &[$((concat!("/", $name, ".js"), include_str!(concat!("../page/", $name, ".js")))),+];
    };
}

modules![
    "dom",
    "format",
    "filter",
    "store",
    "source",
    "diff",
    "plot",
    "waterfall",
    "outcome",
    "list",
    "detail",
    "compare",
    "stats",
    "hooks",
    "tester",
    "replay",
    "help",
    "app",
];

/// The file at a path.
pub(crate) fn find(path: &str) -> Option<Asset> {
    let (text, media_type) = match path {
        "/" => (INDEX, "text/html; charset=utf-8"),
        "/style.css" => (STYLE, "text/css; charset=utf-8"),
        _ => (MODULES.iter().find(|(name, _)| *name == path)?.1, "text/javascript; charset=utf-8"),
    };
    Some(Asset { text, media_type: HeaderValue::from_static(media_type) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_short_and_imports_only_what_stands_before_it() {
        for (index, (name, text)) in MODULES.iter().enumerate() {
            assert!(text.lines().count() <= 300, "{name} has {} lines", text.lines().count());
            let imports = text.lines().filter(|line| line.starts_with("import "));
            for line in imports {
                let imported = line.rsplit('\'').nth(1).unwrap().trim_start_matches('.');
                let at = MODULES.iter().position(|(other, _)| *other == imported);
                assert!(at.is_some_and(|at| at < index), "{name}: {line}");
                assert!(line.ends_with("';"), "{name}: an import stands on one line: {line}");
            }
        }
    }

    #[test]
    fn no_script_makes_markup_or_code_of_text() {
        for (name, text) in MODULES {
            for word in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "new Function",
                "http:",
                "https:",
            ] {
                // The namespace of SVG is a name, not an address that is fetched.
                let found = text.replace("http://www.w3.org/2000/svg", "").contains(word);
                assert!(!found, "{name} has {word}");
            }
        }
    }
}
