//! Parts of a page that a test makes: between `<!-- Made ... -->` and `<!-- End of what was made. -->`.

use std::path::Path;

const END: &str = "<!-- End of what was made. -->";

/// Compares the parts of a page below `docs/` that are made in this way, in their order, with what they must be; writes them with
/// `HOOKRAIL_BLESS=1`.
pub(crate) fn parts_are_current(page: &str, how: &str, command: &str, parts: &[String]) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let begin = format!("<!-- Made {how}: run `{command}`. -->\n");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut pieces = text.split(&begin);
    let mut current = pieces.next().unwrap().to_owned();
    let rests: Vec<&str> = pieces.collect();
    assert_eq!(rests.len(), parts.len(), "docs/{page} has other parts than those that are made {how}");
    for (rest, part) in rests.iter().zip(parts) {
        let (_, tail) = rest.split_once(END).unwrap();
        current = format!("{current}{begin}\n{part}\n{END}{tail}");
    }
    if std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1") {
        std::fs::write(&file, &current).unwrap();
    }
    assert!(
        text == current || std::fs::read_to_string(&file).unwrap() == current,
        "docs/{page} is not current: run `{command}`"
    );
}
