//! Mistakes in commands and in the scripts they run.

use crate::mistakes::row::Row;
use crate::mistakes::row::Told::{Code, Nothing};

fn python(name: &'static str, text: &str) -> Row {
    Row::command(name, "python3 guard.py", Some("script-syntax"), Code("hook-exited")).file("guard.py", text)
}

/// A command that discards the status of a script that denies.
fn lost(name: &'static str, command: &str) -> Row {
    Row::command(name, command, Some("status-lost"), Nothing).file("guard.sh", "echo no >&2\nexit 2\n")
}

/// A guard with a failure policy that prints a text.
fn talking(name: &'static str, command: &str, script: &str, text: &str) -> Row {
    let group = format!(
        r#"{{"hooks": [{{"type": "command", "name": "guard", "command": "{command}", "onFailure": "block"}}]}}"#
    );
    Row::hooks(name, &group, Some("prints-text"), Code("unreadable-answer")).file(script, text)
}

pub(crate) fn rows() -> Vec<Row> {
    let unclosed = "if true; then\n  echo\n";
    vec![
        Row::command(
            "a script that does not exist",
            "./hooks/gaurd.sh",
            Some("script-missing"),
            Code("command-not-found"),
        )
        .program("hooks/guard.sh", "#!/bin/sh\n"),
        Row::command(
            "a Python script that does not exist",
            "python3 hooks/missing.py",
            Some("script-missing"),
            Code("exit-status-of-interpreter"),
        ),
        Row::command(
            "a shell script that does not exist",
            "dash hooks/missing.sh",
            Some("script-missing"),
            Code("exit-status-of-interpreter"),
        ),
        Row::command("a folder in place of a script", "./hooks", Some("script-missing"), Code("command-not-runnable"))
            .file("hooks/a.sh", "true\n"),
        Row::command(
            "a script that is not executable",
            "./guard.sh",
            Some("script-not-executable"),
            Code("command-not-runnable"),
        )
        .file("guard.sh", "#!/bin/sh\ntrue\n"),
        Row::command(
            "Windows line ends in the first line",
            "./guard.sh",
            Some("script-line-endings"),
            Code("command-not-found"),
        )
        .program("guard.sh", "#!/bin/sh\r\ntrue\r\n"),
        Row::command("Windows line ends in a script for `sh`", "sh guard.sh", Some("script-line-endings"), Nothing)
            .file("guard.sh", "true\r\n"),
        Row::command(
            "an interpreter that does not exist",
            "./guard.sh",
            Some("script-interpreter"),
            Code("command-not-found"),
        )
        .program("guard.sh", "#!/usr/bin/bahs\ntrue\n"),
        Row::command(
            "an interpreter that `env` does not find",
            "./guard.py",
            Some("script-interpreter"),
            Code("command-not-found"),
        )
        .program("guard.py", "#!/usr/bin/env pyhton3\nprint()\n"),
        Row::command("a first line without a full path", "./guard.py", Some("script-interpreter"), Nothing)
            .program("guard.py", "#!python3\n"),
        Row::command("a Python script without a first line", "./guard.py", Some("script-interpreter"), Nothing)
            .program("guard.py", "print()\n"),
        Row::command(
            "a Python script with the first line of a shell",
            "./guard.py",
            Some("script-interpreter"),
            Nothing,
        )
        .program("guard.py", "#!/bin/sh\ntrue\n"),
        Row::command(
            "a program that is not installed",
            "no-such-checker --fast",
            Some("program-missing"),
            Code("command-not-found"),
        ),
        Row::command(
            "a program in the project without `./`",
            "guard.sh",
            Some("program-missing"),
            Code("command-not-found"),
        )
        .program("guard.sh", "#!/bin/sh\n"),
        Row::command("a tool inside a script that is not installed", "./guard.sh", None, Code("silent-failure"))
            .program("guard.sh", "#!/bin/sh\nno-such-checker\nexit 0\n"),
        Row::command(
            "a syntax error in a shell script",
            "dash guard.sh",
            Some("script-syntax"),
            Code("exit-status-of-interpreter"),
        )
        .file("guard.sh", unclosed),
        Row::command(
            "a syntax error in a Python script",
            "python3 guard.py",
            Some("script-syntax"),
            Code("hook-exited"),
        )
        .file("guard.py", "import sys\nprint(\"a\"\n"),
        python("a block in Python that is not indented", "import sys\nif sys.argv:\nprint(\"a\")\n"),
        python("an indentation in Python without a reason", "import sys\n  sys.exit(2)\n"),
        python("`print` without brackets in Python", "print \"denied\"\n"),
        Row::command("a syntax error in a script for Node", "node guard.mjs", Some("script-syntax"), Nothing)
            .file("guard.mjs", "const a = ;\n"),
        Row::command("a quote that is not closed in a command", "echo \"a", Some("script-syntax"), Nothing),
        Row::command(
            "a project variable in single quotes",
            "'$LLXPRT_PROJECT_DIR/guard.sh'",
            Some("variable-single-quoted"),
            Code("command-not-found"),
        ),
        Row::command("a variable without quotes", "sh $HOME/guard.sh", Some("variable-unquoted"), Nothing)
            .home("guard.sh", "true\n"),
        Row::command(
            "a command that refuses with 1",
            "echo 'no secrets' >&2; exit 1",
            Some("exit-status-as-policy"),
            Code("hook-exited"),
        ),
        Row::command(
            "a shell script that refuses with 1",
            "./guard.sh",
            Some("exit-status-as-policy"),
            Code("hook-exited"),
        )
        .program("guard.sh", "#!/bin/sh\necho 'no secrets' >&2\nexit 1\n"),
        Row::command(
            "a Python script that refuses with 1",
            "python3 guard.py",
            Some("exit-status-as-policy"),
            Code("hook-exited"),
        )
        .file("guard.py", "import sys\nsys.exit(1)\n"),
        Row::command(
            "a Python script that exits with a text",
            "python3 guard.py",
            Some("exit-status-as-policy"),
            Code("hook-exited"),
        )
        .file("guard.py", "import sys\nsys.exit(\"denied\")\n"),
        Row::command(
            "a shell script that refuses with 3",
            "sh guard.sh",
            Some("exit-status-as-policy"),
            Code("hook-exited"),
        )
        .file("guard.sh", "echo 'no secrets' >&2\nexit 3\n"),
        Row::command("`return` outside of a function", "bash guard.sh", Some("exit-status-as-policy"), Nothing)
            .file("guard.sh", "return 2\nexit 0\n"),
        Row::command(
            "a Python script without `import sys`",
            "python3 guard.py",
            Some("script-undefined"),
            Code("hook-exited"),
        )
        .file("guard.py", "import json\nsys.exit(2)\n"),
        Row::command("a script for Node without its import", "node guard.mjs", Some("script-undefined"), Nothing)
            .file("guard.mjs", "if (fs.existsSync('x')) process.exit(2);\n"),
        Row::command(
            "an import of a script for Node that does not exist",
            "node guard.mjs",
            Some("script-undefined"),
            Nothing,
        )
        .file("guard.mjs", "import { check } from './chekc.mjs';\nif (check()) process.exit(2);\n"),
        Row::command("a byte order mark before the first line", "./guard.py", Some("script-interpreter"), Nothing)
            .program("guard.py", "\u{feff}#!/usr/bin/env python3\nprint()\n"),
        Row::command("`~` in quotes", "\"~/guard.sh\"", Some("script-missing"), Code("command-not-found")),
        Row::command("a path for Windows", ".\\hooks\\guard.sh", Some("program-missing"), Code("command-not-found")),
        lost("`|| true` behind a guard", "sh guard.sh || true"),
        lost("another command behind a guard", "sh guard.sh; true"),
        lost("a guard before a pipe", "sh guard.sh | cat"),
        lost("a guard in the background", "sh guard.sh &"),
        Row::command(
            "a missing script in the code of `bash -c`",
            "bash -c './nope.sh'",
            Some("script-missing"),
            Code("command-not-found"),
        ),
        Row::command(
            "a syntax error in the code of `bash -c`",
            "bash -c 'if true; then echo'",
            Some("script-syntax"),
            Code("exit-status-of-interpreter"),
        ),
        Row::command(
            "a syntax error in the code of `python3 -c`",
            "python3 -c 'print(1'",
            Some("script-syntax"),
            Code("hook-exited"),
        ),
        Row::command("`[[` in a script for `sh`", "dash guard.sh", Some("script-bashism"), Code("silent-failure"))
            .file("guard.sh", "if [[ -n x ]]; then exit 2; fi\nexit 0\n"),
        Row::command(
            "an array in a script for `sh`",
            "dash guard.sh",
            Some("script-bashism"),
            Code("exit-status-of-interpreter"),
        )
        .file("guard.sh", "names=(a b)\nexit 0\n"),
        Row::command(
            "`function` in a script for `sh`",
            "dash guard.sh",
            Some("script-bashism"),
            Code("exit-status-of-interpreter"),
        )
        .file("guard.sh", "function deny {\n  exit 2\n}\nexit 0\n"),
        Row::command(
            "`==` in a test of a script for `sh`",
            "dash guard.sh",
            Some("script-bashism"),
            Code("exit-status-of-interpreter"),
        )
        .file("guard.sh", "[ a == a ]\n"),
        Row::command(
            "an option behind the interpreter of `env`",
            "./guard.py",
            Some("script-interpreter"),
            Code("command-not-found"),
        )
        .program("guard.py", "#!/usr/bin/env python3 -u\nprint()\n"),
        Row::command(
            "a hook in Rust that is not built",
            "./target/release/guard",
            Some("script-missing"),
            Code("command-not-found"),
        )
        .file("Cargo.toml", "[package]\nname = \"guard\"\n"),
        Row::command(
            "the variable of another agent for the project",
            "\"$CURSOR_PROJECT_DIR/guard.sh\"",
            Some("variable-unknown"),
            Code("command-not-found"),
        )
        .file("guard.sh", "true\n"),
        talking("a guard whose shell script prints a text", "sh guard.sh", "guard.sh", "echo \"checking $PWD\"\n"),
        talking("a guard whose Python script prints a text", "python3 guard.py", "guard.py", "print('all is well')\n"),
        Row::new("a hook of the user that runs a file of the project", Some("reads-project"), Nothing).home(
            ".llxprt/settings.json",
            "{\n  \"hooksConfig\": {\"enabled\": true},\n  \"hooks\": {\"BeforeTool\": [{\"hooks\": \
                [{\"type\": \"command\", \"name\": \"lint\", \"command\": \"make lint\"}]}]}\n}\n",
        ),
    ]
}
