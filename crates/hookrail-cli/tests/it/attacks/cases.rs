//! Test cases that a repository brings: what `hookrail test` would run of them.

use crate::attacks::lab::{Lab, Seen};
use crate::attacks::table::attacks;

/// A case of the event that most hooks are for, with more keys.
fn case(more: &str) -> String {
    format!("[[case]]\nname = \"x\"\nevent = \"BeforeTool\"\ntool = \"write_file\"\n{more}\nexpect = {{ runs = 0 }}\n")
}

/// A project with a harmless hook that was granted.
fn granted(lab: &Lab) {
    lab.write(".llxprt/hooks/fine.sh", "cat > /dev/null\n");
    lab.write(".llxprt/settings.json", lab.settings_running("sh .llxprt/hooks/fine.sh"));
    lab.grant();
}

fn refused(_: &Lab, seen: &Seen) {
    let ran = seen.of("test");
    assert!(ran.code == 1 && ran.stdout.is_empty(), "{ran:?}");
    assert!(ran.stderr.contains("nothing was run: "), "{ran:?}");
}

fn quoted(text: &str) -> String {
    format!("'''{text}'''")
}

attacks! {
    "Test cases";

    a_case_runs_a_script Stranger {
        "A case names a script that no configuration names."
        => "`test` says that nothing was run."
        |lab| {
            lab.write("evil.sh", lab.canary());
            lab.write("a.hooktest.toml", case("hook = \"evil.sh\""));
        },
        then refused
    }

    a_case_loads_a_module Stranger {
        "A case names a module, which would run when it is imported."
        => "`test` says that nothing was run."
        |lab| {
            lab.write("evil.ts", lab.hostile_module());
            lab.write("a.hooktest.toml", case("hook = \"evil.ts\""));
        },
        then refused
    }

    a_case_brings_settings Stranger {
        "A case brings settings of its own."
        => "`test` says that nothing was run."
        |lab| {
            lab.write("other.json", lab.settings_running(&lab.canary()));
            lab.write("a.hooktest.toml", case("settings = \"other.json\""));
        },
        then refused
    }

    a_case_for_a_granted_hook_brings_a_program Granted {
        "A case puts a program of its own in the place of the shell that a granted hook is run with."
        => "`test` says that nothing was run."
        |lab| {
            granted(lab);
            let program = quoted(&format!("#!/bin/sh\n{}\n", lab.canary()));
            lab.write("a.hooktest.toml", case(&format!("programs = {{ sh = {program}, cat = {program} }}")));
        },
        then refused
    }

    a_case_for_a_granted_hook_replaces_its_script Granted {
        "A case writes another script over the one that was granted."
        => "`test` says that nothing was run."
        |lab| {
            granted(lab);
            let script = quoted(&lab.canary());
            lab.write("a.hooktest.toml", case(&format!("files = {{ \".llxprt/hooks/fine.sh\" = {script} }}")));
        },
        then refused
    }

    a_case_for_a_granted_hook_sets_variables Granted {
        "A case sets variables by which a shell or a loader runs code."
        => "`test` says that nothing was run."
        |lab| {
            granted(lab);
            let library = lab.write("evil.so", "x");
            let variables = format!("{{ LD_PRELOAD = '{0}', ENV = '{0}', BASH_ENV = '{0}' }}", library.display());
            lab.write("a.hooktest.toml", case(&format!("env = {variables}")));
        },
        then refused
    }

    a_hook_changes_and_a_case_tests_it Granted {
        "A granted script changes, and a case only sends data to it."
        => "`test` says that nothing was run."
        |lab| {
            granted(lab);
            lab.write(".llxprt/hooks/fine.sh", lab.canary());
            lab.write("a.hooktest.toml", case(""));
        },
        then refused
    }

    case_files_that_are_no_files Stranger {
        "Case files are a pipe, a link to a secret of the user, and a folder."
        => "`test` reads none of them."
        |lab| {
            let secret = lab.write_outside("home/secret", "hunter2");
            lab.pipe("pipe.hooktest.toml");
            lab.link("link.hooktest.toml", secret);
            lab.write("folder.hooktest.toml/x", "");
        },
        then |_, seen| assert!(!format!("{:?}", seen.of("test")).contains("hunter2"))
    }

    a_case_with_a_hostile_name Stranger {
        "The name, the event and a key of a case contain control characters."
        => "`test` writes them out."
        |lab| {
            let name = "\\u001b[2J\\u202e";
            let text = format!("[[case]]\nname = \"{name}\"\nevent = \"{name}\"\n\"{name}\" = 1\nexpect = {{ runs = 1 }}\n");
            lab.write("a.hooktest.toml", text);
        },
        then |_, seen| assert!(seen.of("test").stderr.contains("is not an event"))
    }
}
