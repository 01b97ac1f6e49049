//! Whether a shell command itself assigns a value to a name.

/// Commands whose plain words are names they assign.
const ASSIGNING: [&str; 11] =
    ["for", "select", "read", "getopts", "declare", "typeset", "local", "export", "readonly", "mapfile", "readarray"];

/// The most places that are checked.
const MOST_PLACES: usize = 1_000;

/// Whether the command assigns the name: `name=`, `name+=`, `name[…]=`, `${name:=…}`, `for name`, `read name` and the
/// like. A wrong yes leaves a reference to the shell, which is what shell users expect.
pub(super) fn is_assigned(command: &str, name: &str) -> bool {
    if name.is_empty() {
        return false;
    }
    command.match_indices(name).enumerate().any(|(count, (at, _))| {
        // A command may repeat the name very often, and checking it must still end.
        if count > MOST_PLACES {
            return true;
        }
        let before = command.get(..at).unwrap_or_default();
        let after = command.get(at + name.len()..).unwrap_or_default();
        if before.ends_with(is_word) || after.starts_with(is_word) {
            return false;
        }
        if before.ends_with("${") {
            return after.starts_with(":=") || after.starts_with('=');
        }
        if before.ends_with(['$', '-', '.', '/']) {
            return false;
        }
        let assigns = (after.starts_with('=') && !after.starts_with("==")) || after.starts_with("+=");
        let element = after.starts_with('[') && after.contains("]=");
        let arithmetic = after.trim_start().starts_with('=') && before.contains("((");
        assigns || element || arithmetic || by_command(before, after)
    })
}

/// Whether the name is a word of a command that assigns its words.
fn by_command(before: &str, after: &str) -> bool {
    let whole_word = before.ends_with(|c: char| c.is_whitespace()) && !after.starts_with(['\'', '"', '$']);
    let this_command = before.rsplit([';', '|', '&', '\n', '(', '{', '`']).next().unwrap_or_default();
    let mut words = this_command.split_whitespace().peekable();
    while words.next_if(|word| matches!(*word, "do" | "then" | "else" | "while" | "until" | "if" | "!")).is_some() {}
    // `IFS= read -r line` has assignments before the command.
    while words.next_if(|word| word.contains('=')).is_some() {}
    match words.next() {
        Some("for" | "select") => whole_word && words.next().is_none(),
        Some("printf") => whole_word && words.last() == Some("-v"),
        Some(command) => whole_word && ASSIGNING.contains(&command),
        None => false,
    }
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::is_assigned;

    #[test]
    fn assignments_are_seen_and_mere_words_are_not() {
        for command in [
            "x=1; echo ${x}",
            "a=1 x=2 sh -c y",
            "x+=1",
            "for x in a b; do echo ${x}; done",
            "read x",
            "cat f | while IFS= read -r x; do echo ${x}; done",
            "export x",
            "echo ${x:=default}",
            "printf -v x %s a",
            "x[0]=a",
            "(( x = 1 ))",
            "true && x=1",
            "f() { local x; }",
        ] {
            assert!(is_assigned(command, "x"), "{command}");
        }
        for command in
            ["echo ${x}", "echo $x", "echo x", "xx=1", "[ x == y ]", "echo for x", "--x=1", "cat /x", "echo ${x:-y}"]
        {
            assert!(!is_assigned(command, "x"), "{command}");
        }
    }
}
