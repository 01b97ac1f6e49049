//! Starting a plain command line without a shell, if neither the hook nor its user can tell the difference.
//!
//! If the program cannot be started, the shell is started instead and reports the problem in its own words and with its
//! own exit status. So there is no second list of such cases here.

use std::path::{Component, Path};

use super::Environment;
use super::plain::{PlainCommand, plain};
use crate::hook::variables::is_word_of;

/// The program and words of a command line that may be started directly in that environment and directory.
pub(super) fn direct(
    line: &str,
    variables: &[(String, String)],
    environment: &Environment,
    cwd: &Path,
    shell: &Path,
) -> Option<PlainCommand> {
    let plain = plain(line, variables)?;
    let may_be = !changes_the_environment(environment)
        && keeps_the_directory(environment, cwd)
        && (!plain.is_bare_name() || (is_searched_alike(environment) && has_known_builtins(shell)));
    may_be.then_some(plain)
}

/// Variables that a shell reads before its first command, or always sets.
const OF_SHELLS: &str = "
    COMP_WORDBREAKS DIRSTACK ENV EPOCHREALTIME EPOCHSECONDS EUID EXECIGNORE FPATH FUNCNAME FUNCNEST GLOBIGNORE
    GROUPS HISTCMD IFS LINENO OPTARG OPTERR OPTIND PIPESTATUS POSIXLY_CORRECT PPID PS4 RANDOM SECONDS SHELLOPTS
    SRANDOM UID
";

/// Whether a shell would act on a variable, or pass on another value. What it does to `_` and `SHLVL` is documented in
/// the guide.
fn changes_the_environment(environment: &Environment) -> bool {
    environment.iter().any(|(name, _)| {
        let Some(name) = name.to_str() else { return true };
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
        // Functions, start files and settings of bash all begin with this prefix.
        !is_name || name.starts_with("BASH") || is_word_of(OF_SHELLS, name)
    })
}

/// Whether a shell would leave `PWD` and `OLDPWD` as they are.
fn keeps_the_directory(environment: &Environment, cwd: &Path) -> bool {
    let is_written_plainly = cwd.is_absolute()
        && cwd.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
        && cwd.components().collect::<std::path::PathBuf>().as_os_str() == cwd.as_os_str();
    let before = environment.get("OLDPWD").is_none_or(|before| Path::new(before).is_dir());
    is_written_plainly && before && environment.get("PWD").is_some_and(|pwd| pwd == cwd.as_os_str())
}

/// Whether every shell finds a name in the same file.
fn is_searched_alike(environment: &Environment) -> bool {
    let Some(path) = environment.get("PATH").and_then(|path| path.to_str()) else { return false };
    path.split(':').all(|entry| !entry.is_empty() && !entry.contains('~') && !entry.ends_with('/'))
}

/// Whether the shell's builtin commands are known, which is so for bash and dash.
fn has_known_builtins(shell: &Path) -> bool {
    let is_known = |shell: &Path| shell.file_name().is_some_and(|name| name == "bash" || name == "dash");
    is_known(shell) || shell.canonicalize().is_ok_and(|real| is_known(&real))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Environment, direct};

    fn environment() -> Environment {
        [("PATH", "/usr/bin:/bin"), ("PWD", "/tmp"), ("HOME", "/")].into_iter().collect()
    }

    fn is_direct(line: &str, environment: &Environment, cwd: &str, shell: &str) -> bool {
        direct(line, &[], environment, Path::new(cwd), Path::new(shell)).is_some()
    }

    #[test]
    fn an_ordinary_environment_needs_no_shell() {
        for line in ["cat", "/bin/cat", "./cat"] {
            assert!(is_direct(line, &environment(), "/tmp", "/usr/bin/bash"), "{line}");
        }
        assert!(is_direct("cat", &environment().with("OLDPWD", "/"), "/tmp", "/usr/bin/bash"));
        assert!(is_direct("/bin/cat", &environment().with("PATH", "~/bin:"), "/tmp", "/opt/osh"));
    }

    #[test]
    fn what_a_shell_does_by_itself_needs_it() {
        for (name, value) in [
            ("BASH_ENV", "x"),
            ("BASH_FUNC_cat%%", "() { :; }"),
            ("ENV", "x"),
            ("SHELLOPTS", "xtrace"),
            ("IFS", "a"),
            ("a-b", "1"),
            ("1a", "1"),
            ("OLDPWD", "/no/such/folder"),
            ("PWD", "/"),
            ("PATH", ""),
            ("PATH", "/usr/bin:"),
            ("PATH", "~/bin:/usr/bin"),
            ("PATH", "/usr/bin/"),
        ] {
            let environment = environment().with(name, value);
            assert!(!is_direct("cat", &environment, "/tmp", "/usr/bin/bash"), "{name}={value}");
        }
        assert!(!is_direct("cat", &environment(), "/tmp", "/opt/osh"), "its builtins are not known");
        for cwd in ["/tmp/", "/tmp/.", "/tmp/../tmp", "//tmp", "tmp", ""] {
            let environment = environment().with("PWD", cwd);
            assert!(!is_direct("cat", &environment, cwd, "/usr/bin/bash"), "{cwd}");
        }
    }
}
