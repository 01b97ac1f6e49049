//! Links lead somewhere.

use super::markdown::{DOCUMENTS, anchors, links, root};

#[test]
fn links_lead_to_files_and_headings_that_exist() {
    for name in DOCUMENTS {
        for link in links(name) {
            if link.starts_with("https://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { name } else { file };
            assert!(root().join("docs").join(target).exists(), "docs/{name}: {link}");
            if !anchor.is_empty() {
                assert!(anchors(target).contains(&anchor.to_owned()), "docs/{name}: {link}");
            }
        }
    }
}
