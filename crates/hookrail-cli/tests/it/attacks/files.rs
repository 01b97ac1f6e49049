//! Files that are not what they seem: pipes, devices, sockets, and files that are too large, too deep or too many.

use std::fs;
use std::os::unix::net::UnixListener;

use serde_json::json;

use crate::attacks::lab::Lab;
use crate::attacks::table::attacks;

/// A file that looks huge and costs nothing.
fn sparse(lab: &Lab, name: &str, bytes: u64) {
    let path = lab.write(name, "");
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

const GIB: u64 = 1 << 30;

attacks! { "Files that are not what they seem";
    pipes_everywhere Stranger {
        "Settings, manifests, hooks files, modules and scripts are pipes without a writer."
        => "The settings are reported as unreadable."
        |lab| {
            for name in [
                ".llxprt/settings.json", ".x-code/settings.json", ".x-code/settings.local.json",
                ".x-code/plugins/a/plugin.json", ".x-code/plugins/b/hooks/hooks.json", ".xcsh/hooks/pre/a.ts",
                ".xcsh/hooks/b.ts", ".claude/hooks/pre/c.ts", "script.sh",
            ] {
                lab.pipe(name);
            }
            lab.write(".x-code/plugins/b/plugin.json", r#"{"name": "b"}"#);
            lab.write(".x-code/plugins/c/plugin.json", lab.plugin_running("c", "sh ${cwd}/script.sh"));
        },
        then |_, seen| seen.reports("file-unreadable")
    }
    sockets_and_folders_in_place_of_files Stranger {
        "The settings file is a socket, a manifest is a folder, and the folder of modules is a file."
        => "What cannot be read is reported."
        |lab| {
            fs::create_dir(lab.project.join(".llxprt")).unwrap();
            // A socket's name must be short, so it is made in the folder itself and moved.
            let listener = UnixListener::bind(lab.base.join("s")).unwrap();
            fs::rename(lab.base.join("s"), lab.project.join(".llxprt/settings.json")).unwrap();
            drop(listener);
            fs::create_dir_all(lab.project.join(".x-code/plugins/a/plugin.json")).unwrap();
            lab.write(".xcsh/hooks", "");
        },
        then |_, seen| seen.reports("file-unreadable")
    }
    module_imports_a_pipe_and_a_device Stranger {
        "A module imports a pipe, a device and a file of the kernel that never ends."
        => "No command waits for them; the module is listed as untrusted."
        |lab| {
            lab.pipe(".xcsh/hooks/pipe.ts.d/x.js");
            let imports = "import './../pipe.ts.d/x.js'; import '/dev/zero'; import '../../../../../../../../proc/kmsg';\n\
                import '../../../../../../../../sys/kernel/debug/tracing/trace_pipe'; import '/dev/stdin.js';\n";
            lab.write(".xcsh/hooks/pre/a.ts", format!("{imports}{}", lab.hostile_module()));
        },
        then |_, seen| assert_eq!(seen.of_project().len(), 1)
    }
    huge_files Stranger {
        "The settings, a manifest, a module, what it imports, and a script are a thousand times larger than any real one."
        => "The settings are reported as unreadable; nothing is read into memory whole."
        |lab| {
            lab.variable("RUST_BACKTRACE", "0");
            sparse(lab, ".llxprt/settings.json", 8 * GIB);
            sparse(lab, ".x-code/plugins/a/plugin.json", 8 * GIB);
            sparse(lab, ".xcsh/hooks/pre/huge.ts", 8 * GIB);
            sparse(lab, ".xcsh/hooks/huge.ts", 8 * GIB);
            sparse(lab, ".xcsh/hooks/lib/huge.js", 8 * GIB);
            lab.write(".xcsh/hooks/pre/imports.ts", format!("import '../lib/huge.js';\n{}", lab.hostile_module()));
            sparse(lab, "huge.sh", 8 * GIB);
            lab.write(".x-code/plugins/b/plugin.json", lab.plugin_running("b", "sh ${cwd}/huge.sh"));
        },
        then |lab, seen| {
            seen.reports("file-unreadable");
            let granted = lab.run(&["trust", "grant", "--yes"], "");
            assert_eq!(granted.code, 1, "what cannot be covered cannot be granted: {granted:?}");
        }
    }
    deep_json Stranger {
        "The settings, a manifest and a hooks file are nested a hundred thousand levels deep."
        => "Each is reported as broken."
        |lab| {
            let deep = |head: &str| format!("{head}{}{}", "[".repeat(100_000), "]".repeat(100_000));
            lab.write(".llxprt/settings.json", deep("{\"hooks\":") + "}");
            lab.write(".x-code/plugins/a/plugin.json", deep("{\"name\":\"a\",\"hooks\":") + "}");
            lab.write(".x-code/plugins/b/plugin.json", r#"{"name":"b"}"#);
            lab.write(".x-code/plugins/b/hooks/hooks.json", "{\"PreToolUse\":".repeat(50_000));
        },
        then |_, seen| seen.reports("file-syntax")
    }
    keys_without_end Stranger {
        "The settings name six hundred events that do not exist, so that comparing each with each would never end."
        => "All of it is read in time; people are shown the first hundred findings, and how many more there are."
        |lab| {
            let keys: Vec<String> = (0..600).map(|at| format!("\"E{at}\":[]")).collect();
            lab.write(".llxprt/settings.json", format!("{{\"hooks\":{{{}}}}}", keys.join(",")));
        },
        then |_, seen| {
            assert_eq!(seen.codes().len(), 600);
            assert!(seen.of("check").stdout.contains("… 500 more in .llxprt/settings.json"));
        }
    }
    hundreds_of_hooks_on_a_large_file Stranger {
        "Two hundred hooks each name a file of fifty megabytes, so that hashing it for each would never end."
        => "Only `trust grant` hashes what it offers, so that one command is left out here."
        |lab| {
            lab.leave_out("trust grant");
            sparse(lab, "large.bin", 50 << 20);
            let hooks: Vec<_> = (0..200).map(|at| json!({"type": "command", "command": format!("sh large.bin {at}")})).collect();
            lab.write(".llxprt/settings.json", json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": [{"hooks": hooks}]}}).to_string());
        }
    }
    a_pattern_that_explodes Stranger {
        "Matchers are nested without end, repeat repetitions, and backtrack for ever."
        => "Every one is read as some pattern or refused; none is ever tried, because its hook is untrusted."
        |lab| {
            let patterns = [
                "(".repeat(20_000), "(?:".repeat(20_000) + &")".repeat(20_000), "[".repeat(20_000), "a{1000}{1000}{1000}{1000}".to_owned(),
                "(a+)+$".to_owned(), "((a*)*)*\\1$".to_owned(), "(?=".repeat(20_000), "\\".repeat(9_999), "x|".repeat(20_000),
            ];
            let groups: Vec<_> = patterns
                .iter()
                .map(|pattern| json!({"matcher": pattern, "hooks": [{"type": "command", "command": lab.canary()}]}))
                .collect();
            lab.write(".llxprt/settings.json", json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": groups}}).to_string());
            let entries: Vec<_> = patterns.iter().map(|pattern| json!({"matcher": pattern, "command": lab.canary()})).collect();
            lab.write(".x-code/plugins/a/plugin.json", json!({"name": "a", "hooks": {"PreToolUse": entries}}).to_string());
        }
    }
    a_command_that_never_ends_to_be_read Stranger {
        "Commands of plugins hold thousands of open quotes, braces, substitutions and variables."
        => "They are read in time, and untrusted."
        |lab| {
            let commands = ["${", "$(", "\"$(", "`", "${a:-", "'\"", "<<E\n", "((", "\\\n", "${pluginDataDir}${env:X}"];
            let entries: Vec<_> = commands.iter().map(|piece| json!({"command": piece.repeat(500)})).collect();
            lab.write(".x-code/plugins/a/plugin.json", json!({"name": "a", "hooks": {"PreToolUse": entries}}).to_string());
            let hooks: Vec<_> = commands.iter().map(|piece| json!({"type": "command", "command": piece.repeat(500)})).collect();
            lab.write(".llxprt/settings.json", json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": [{"hooks": hooks}]}}).to_string());
        }
    }
    hundreds_of_modules_and_plugins Stranger {
        "The project brings a hundred modules and thirty plugins."
        => "All are listed as untrusted, in time."
        |lab| {
            for at in 0..100 {
                lab.write(&format!(".xcsh/hooks/pre/m{at}.ts"), "x");
            }
            for at in 0..30 {
                lab.write(&format!(".x-code/plugins/p{at}/plugin.json"), lab.plugin_running(&format!("p{at}"), "true"));
            }
        },
        then |_, seen| assert_eq!(seen.of_project().len(), 100 + 3 * 30)
    }
    not_text Stranger {
        "Settings, manifest and module are bytes that are no text, and a file's name is none either."
        => "What cannot be read is reported."
        |lab| {
            use std::os::unix::ffi::OsStrExt as _;
            lab.write(".llxprt/settings.json", b"{\"hooks\":\"\xff\xfe\"}");
            lab.write(".x-code/plugins/a/plugin.json", b"\xff\xfe\x00");
            lab.write(".xcsh/hooks/pre/a.ts", b"\xff\xfe");
            let odd = std::ffi::OsStr::from_bytes(b"b\xff.ts");
            fs::write(lab.project.join(".xcsh/hooks/pre").join(odd), lab.hostile_module()).unwrap();
        },
        then |_, seen| seen.reports("file-unreadable")
    }
}
