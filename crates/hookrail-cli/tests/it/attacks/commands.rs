//! Commands whose covered file and executed file could differ: granted, and then only the file that really runs is changed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::attacks::lab::Lab;
use crate::attacks::table::attacks;

/// What `trust status` says about the hook that every project here has.
#[derive(Debug, PartialEq, Eq)]
struct Status {
    state: String,
    is_open_ended: bool,
}

impl Status {
    /// Nothing tells the user that another program would run.
    fn is_deceived(&self) -> bool {
        self.state == "granted" && !self.is_open_ended
    }
}

#[track_caller]
fn status(lab: &Lab) -> Status {
    let ran = lab.run(&["trust", "status", "--json"], "");
    let document = ran.json();
    let hook = document["hooks"].as_array().unwrap().iter().find(|hook| hook["hook"] == "hostile");
    let hook = hook.unwrap_or_else(|| panic!("{document}"));
    Status { state: hook["state"].as_str().unwrap().to_owned(), is_open_ended: hook["openEnded"] == json!(true) }
}

fn settings_with(hook: &Value) -> String {
    let mut hook = hook.clone();
    hook["type"] = json!("command");
    hook["name"] = json!("hostile");
    json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": [{"hooks": [hook]}]}}).to_string()
}

/// A command, and the file that it really runs, imports, sources or includes.
struct Form {
    hook: Value,
    runs: &'static str,
    /// Whether the command is understood completely, so that the change itself must be noticed.
    is_closed: bool,
}

fn line(command: &str, runs: &'static str) -> Form {
    Form { hook: json!({"command": command}), runs, is_closed: false }
}

fn words(args: &[&str], runs: &'static str) -> Form {
    Form { hook: json!({"command": "sh", "args": args}), runs, is_closed: false }
}

fn forms() -> Vec<Form> {
    vec![
        Form { is_closed: true, ..line("bash hooks/lib/../guard.sh", "other/guard.sh") },
        line("python3 -m guard README.md", "guard.py"),
        line("python3 tools README.md", "tools/__main__.py"),
        line("python3 hooks/guard.py", "hooks/helper.py"),
        line("node ./guard README.md", "guard.js"),
        line("node . README.md", "index.js"),
        line("make -s lint README.md", "Makefile"),
        line("make -s -C sub lint -W README.md", "sub/Makefile"),
        line("git -C . -c core.hooksPath=. status README.md", "post-index-change"),
        line("sh -c 'sh a\\\n.sh' README.md", "a.sh"),
        line("printf 'sh a.%s' sh | sh -s README.md", "a.sh"),
        Form { is_closed: true, ..line("sh README.md", "README.md") },
        line("find . -name a.sh -execdir sh a.sh ';' -o -name README.md", "a.sh"),
        line("sh -c 'for i in a; do sh ./sub/a.sh; done' README.md", "sub/a.sh"),
        line("python3 -c 'import guard' README.md", "guard.py"),
        line("perl -I. -MGuard -e1 README.md", "Guard.pm"),
        line("PATH=.:/usr/bin:/bin guard README.md", "guard"),
        line("PATH=./bin:/usr/bin:/bin guard README.md", "bin/guard"),
        line("./own", "interpreter"),
        line("BASH_ENV=./e README.md; BASH_ENV=./e bash -c :", "e"),
        words(&["it's.sh"], "it's.sh"),
        words(&["a\"b.sh"], "a\"b.sh"),
        words(&["a\tb.sh"], "a\tb.sh"),
        Form { is_closed: true, ..words(&["a.sh"], "a.sh") },
        words(&["--", "-x=a.sh"], "-x=a.sh"),
        line("sh 'a'\\''b.sh'", "a'b.sh"),
        line("sh a.sh#x", "a.sh#x"),
        line("sh <<E README.md\nsh a.s\\\nh\nE", "a.sh"),
        line("sh a.sh\u{200b}", "a.sh\u{200b}"),
        line("shopt -s expand_aliases\nalias README.md='sh a\\\n.sh'\nREADME.md", "a.sh"),
        line("sh ./sub/run.sh # hooks/guard.sh", "sub/run.sh"),
        line("echo -e 'sh \\x61.sh' README.md | sh", "a.sh"),
        line("sed s/x/./ README.md | sh", "a.sh"),
        Form { is_closed: true, ..line("python3 .llxprt/hooks/guard.py", ".llxprt/hooks/guard.py") },
        Form { is_closed: true, ..line("bash -eu -o pipefail hooks/guard.sh", "hooks/guard.sh") },
    ]
}

/// Everything that any of the forms could run, harmless so far.
fn fill(lab: &Lab) {
    for name in [
        "README.md",
        "a.sh",
        "sub/a.sh",
        "sub/run.sh",
        "e",
        "guard",
        "bin/guard",
        "own",
        "interpreter",
        "it's.sh",
        "a\"b.sh",
        "a\tb.sh",
        "-x=a.sh",
        "a'b.sh",
        "a.sh#x",
        "a.sh\u{200b}",
        "hooks/guard.sh",
        "other/guard.sh",
        "post-index-change",
        "guard.js",
        "index.js",
        "guard.py",
        "tools/__main__.py",
        "hooks/guard.py",
        "hooks/helper.py",
        ".llxprt/hooks/guard.py",
    ] {
        let path = lab.write(name, "#\n");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    lab.write("own", "#!./interpreter\n");
    lab.write("Guard.pm", "1;\n");
    lab.write("Makefile", "lint:\n");
    lab.write("sub/Makefile", "lint:\n");
    fs::create_dir_all(lab.project.join("other/deep")).unwrap();
    lab.link("hooks/lib", "../other/deep");
}

/// The blanks that a shell does not split at.
const BLANKS: [char; 8] = ['\u{a0}', '\u{2003}', '\u{3000}', '\u{85}', '\u{2028}', '\r', '\u{c}', '\u{b}'];

/// Python, Ruby, Perl and Node with a script in a hook folder, and a file that appears beside it.
const SIBLINGS: [(&str, &str, &str); 6] = [
    ("python3 .llxprt/hooks/guard.py", ".llxprt/hooks/guard.py", ".llxprt/hooks/shlex.py"),
    ("python3 .llxprt/hooks/guard.py", ".llxprt/hooks/guard.py", ".llxprt/hooks/shlex/__init__.py"),
    ("python3 -u \"$LLXPRT_PROJECT_DIR/.llxprt/hooks/guard.py\"", ".llxprt/hooks/guard.py", ".llxprt/hooks/json.so"),
    ("node .claude/hooks/guard.js", ".claude/hooks/guard.js", ".claude/hooks/node_modules/left/index.js"),
    ("ruby .gemini/hooks/guard.rb", ".gemini/hooks/guard.rb", ".gemini/hooks/json.rb"),
    ("perl .codex/hooks/guard.pl", ".codex/hooks/guard.pl", ".codex/hooks/JSON.pm"),
];

attacks! { "Commands that run other files than they seem to";
    decoys Granted {
        "A granted command names a harmless file and runs another one, in 35 forms; afterwards only the file that runs is changed."
        => "The change is noticed, or the command was shown as open-ended; commands that are understood are not called open-ended."
        |lab| {
            lab.write("run.sh", "true\n");
            lab.write(".llxprt/settings.json", settings_with(&json!({"command": "sh", "args": ["run.sh"]})));
            lab.grant();
            lab.write("run.sh", lab.canary());
        },
        then |_, _| {
            let mut deceived = Vec::new();
            for form in forms() {
                let lab = Lab::new();
                fill(&lab);
                lab.write(".llxprt/settings.json", settings_with(&form.hook));
                lab.grant();
                let before = status(&lab);
                assert_eq!(before.state, "granted", "{}", form.hook);
                assert!(!(before.is_open_ended && form.is_closed), "{} is called open-ended", form.hook);
                lab.write(form.runs, "# changed\n");
                let after = status(&lab);
                if after.is_deceived() || (form.is_closed && after.state != "changed") {
                    deceived.push(format!("{}: {after:?}", form.hook));
                }
            }
            assert!(deceived.is_empty(), "{deceived:#?}");
        }
    }
    blanks_in_a_name Granted {
        "The name of a granted script ends with a blank that a shell does not split at, of eight kinds, and the same name without it is a harmless file."
        => "The file with the blank is covered or the command is open-ended, and the prompt writes the blank out."
        |lab| {
            lab.write("run.sh\u{2003}", "true\n");
            lab.write(".llxprt/settings.json", settings_with(&json!({"command": "sh run.sh\u{2003}"})));
            lab.grant();
            lab.write("run.sh", lab.canary());
        },
        then |_, _| {
            for blank in BLANKS {
                let lab = Lab::new();
                lab.write("hooks/guard.sh", "#\n");
                let real = format!("hooks/guard.sh{blank}");
                lab.write(&real, "#\n");
                lab.write(".llxprt/settings.json", settings_with(&json!({"command": format!("bash {real}")})));
                let offer = lab.run(&["trust", "grant"], "").stdout;
                assert!(!offer.contains(blank), "{blank:?} is shown raw: {offer:?}");
                assert!(offer.contains("guard.sh\\"), "{blank:?} is not written out: {offer:?}");
                lab.grant();
                lab.write(&real, "# changed\n");
                assert!(!status(&lab).is_deceived(), "{blank:?}");
            }
        }
    }
    dots_behind_a_link_outside Granted {
        "A granted command names a script by a link and `..`; the script lies outside of the project and is changed."
        => "The path is resolved as the kernel resolves it, both paths are shown, and the hook counts as changed."
        |lab| {
            lab.write("hooks/guard.sh", "#\n");
            lab.write_outside("elsewhere/guard.sh", "#\n");
            fs::create_dir_all(lab.base.join("elsewhere/deep")).unwrap();
            lab.link("hooks/lib", lab.base.join("elsewhere/deep"));
            lab.write(".llxprt/settings.json", settings_with(&json!({"command": "bash hooks/lib/../guard.sh"})));
            let offer = lab.run(&["trust", "grant"], "").stdout;
            assert!(offer.contains("hooks/lib/../guard.sh → ") && offer.contains("elsewhere/guard.sh"), "{offer}");
            lab.grant();
            lab.write_outside("elsewhere/guard.sh", lab.canary());
        },
        then |_, seen| assert_eq!(seen.state("hostile"), "changed")
    }
    sibling_of_a_script Granted {
        "A file named like a module of the standard library appears beside the granted Python guard in a hook folder."
        => "The hook counts as changed; so for packages, native code, Node, Ruby and Perl; the prompt shows the files beside a script."
        |lab| {
            lab.write(".llxprt/hooks/guard.py", "import shlex\n");
            lab.write(".llxprt/hooks/helper.py", "\n");
            lab.write(".llxprt/settings.json", settings_with(&json!({"command": "python3 .llxprt/hooks/guard.py"})));
            let offer = lab.run(&["trust", "grant"], "").stdout;
            assert!(offer.contains("helper.py") && !offer.contains("open-ended"), "{offer}");
            lab.grant();
            let touch = format!("import os\nos.system({:?})\n", lab.canary());
            lab.write(".llxprt/hooks/shlex.py", touch);
        },
        then |_, seen| {
            assert_eq!(seen.state("hostile"), "changed");
            for (command, script, sibling) in SIBLINGS {
                let lab = Lab::new();
                lab.write(script, "#\n");
                lab.write(".llxprt/settings.json", settings_with(&json!({"command": command})));
                lab.grant();
                lab.write(sibling, "#\n");
                assert!(!status(&lab).is_deceived(), "{command} with {sibling}");
            }
        }
    }
}
