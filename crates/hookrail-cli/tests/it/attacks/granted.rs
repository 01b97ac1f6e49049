//! "Approve once, exploit for ever": changes after a grant.

use std::fs;

use serde_json::json;

use crate::attacks::guards;
use crate::attacks::lab::Lab;
use crate::attacks::table::attacks;

/// A granted hook that runs a harmless script.
fn granted_script(lab: &Lab, command: &str) {
    lab.write("run.sh", "true\n");
    lab.write(".llxprt/settings.json", lab.settings_running(command));
    lab.grant();
}

/// A guard of tool calls that has changed would block them.
const HARMLESS: &str = "export default (pi) => { pi.on(\"tool_result\", () => undefined); };\n";

attacks! { "After a grant";
    script_changes Granted {
        "The script of a granted hook becomes a hostile one."
        => "The hook counts as changed."
        |lab| {
            granted_script(lab, "sh run.sh");
            lab.write("run.sh", lab.canary());
        },
        then |lab, seen| {
            assert_eq!(seen.state("hostile"), "changed");
            let diff = lab.run(&["trust", "diff"], "");
            assert!(diff.code == 1 && diff.stdout.contains("changed  run.sh"), "{diff:?}");
        }
    }
    script_becomes_a_link Granted {
        "The script of a granted hook becomes a link to a hostile one outside of the project."
        => "What the link leads to is what counts, so the hook counts as changed."
        |lab| {
            granted_script(lab, "sh run.sh");
            let evil = lab.write_outside("elsewhere/evil.sh", lab.canary());
            fs::remove_file(lab.project.join("run.sh")).unwrap();
            lab.link("run.sh", evil);
        },
        then |_, seen| assert_eq!(seen.state("hostile"), "changed")
    }
    script_becomes_a_pipe Granted {
        "The script of a granted hook becomes a pipe without a writer."
        => "No command waits for it, and the hook is reported as changed."
        |lab| {
            granted_script(lab, "sh run.sh");
            fs::remove_file(lab.project.join("run.sh")).unwrap();
            lab.pipe("run.sh");
        },
        then |_, seen| assert_eq!(seen.state("hostile"), "changed")
    }
    second_script_appears Granted {
        "A granted command names two scripts, of which the second appears only after the grant."
        => "A file that appears is a change."
        |lab| {
            granted_script(lab, "sh run.sh; test -e second.sh && sh second.sh || true");
            lab.write("second.sh", lab.canary());
        },
        then |_, seen| assert_eq!(seen.state("hostile"), "changed")
    }
    second_script_is_hidden_in_the_text Granted {
        "A second script is named over two lines, with quotes in its name, and behind variables, and appears later."
        => "It is found however it is written."
        |lab| {
            let command = "sh run.sh; for f in se\\\ncond.sh t'hir'd.sh \"$LLXPRT_PROJECT_DIR\"/\"fourth\".sh; do test -e \"$f\" && sh \"$f\"; done; true";
            granted_script(lab, command);
            lab.write("second.sh", lab.canary());
        },
        then |_, seen| assert_eq!(seen.state("hostile"), "changed")
    }
    command_changes Granted {
        "The command of a granted hook is another one, under the same name."
        => "The new one was never granted, and `trust diff` shows both."
        |lab| {
            granted_script(lab, "sh run.sh");
            lab.write(".llxprt/settings.json", lab.settings_running(&format!("sh run.sh; {}", lab.canary())));
        },
        then |lab, seen| {
            assert_eq!(seen.state("hostile"), "not-granted");
            let diff = lab.run(&["trust", "diff"], "").stdout;
            assert!(diff.contains("- sh run.sh") && diff.contains("+ sh run.sh; touch"), "{diff}");
        }
    }
    event_and_matcher_change Granted {
        "A hook that was granted for one tool and one event is moved to all of them."
        => "Each other event and matcher needs a grant of its own."
        |lab| {
            // It tells by its input where it was called, and is harmless only where it was granted.
            let hook = json!([{"matcher": "only_this_tool", "hooks": [{"type": "command", "command": lab.canary()}]}]);
            lab.write(".llxprt/settings.json", json!({"tools": {"enableHooks": true}, "hooks": {"AfterTool": hook}}).to_string());
            lab.grant();
            lab.write(".llxprt/settings.json", lab.settings_running(&lab.canary()));
        },
        then |_, seen| assert_eq!(seen.state("hostile"), "not-granted")
    }
    import_changes Granted {
        "What a granted module imports becomes hostile; the module itself stays what it was."
        => "A module's imports are part of what was granted."
        |lab| {
            lab.write(".xcsh/hooks/lib/helper.js", "export const help = 1;\n");
            lab.write(".xcsh/hooks/pre/a.ts", format!("import {{ help }} from \"../lib/helper.js\";\n{HARMLESS}"));
            lab.grant();
            lab.write(".xcsh/hooks/lib/helper.js", lab.hostile_module() + "export const help = 1;\n");
        },
        then |lab, seen| assert_eq!(seen.state(lab.project.join(".xcsh/hooks/pre/a.ts").to_str().unwrap()), "changed")
    }
    quoted_import_changes Granted {
        "A granted module imports a file by a path that stands in its source as a text, and that file becomes hostile."
        => "A file that a module may import without `read` is part of what was granted."
        |lab| {
            let source = "const place = \"../lib/helper.js\";\nexport default (pi) => { pi.on(\"session_start\", async () => { await import(place); }); };\n";
            lab.write(".xcsh/hooks/lib/helper.js", "export const help = 1;\n");
            let module = lab.write(".xcsh/hooks/pre/a.ts", source);
            lab.grant();
            let status = lab.run(&["trust", "status", "--json"], "").json();
            let files = &status["hooks"].as_array().unwrap().iter().find(|hook| hook["hook"] == module.to_str().unwrap()).unwrap()["files"];
            assert!(files.to_string().contains("lib/helper.js"), "{status}");
            lab.write(".xcsh/hooks/lib/helper.js", lab.hostile_module() + "export const help = 1;\n");
        },
        then |lab, seen| assert_eq!(seen.state(lab.project.join(".xcsh/hooks/pre/a.ts").to_str().unwrap()), "changed")
    }
    guard_changes Granted {
        "The script of a granted guard changes, and its user asks what would run."
        => "`explain` says that the guard does not run and is treated as failed, as text and as JSON."
        |lab| {
            lab.write("guard.sh", "exit 0\n");
            let hook = json!({"type": "command", "name": "guard", "command": "sh guard.sh", "onFailure": "block"});
            let groups = json!([{"matcher": "run_.*", "hooks": [hook]}]);
            lab.write(".llxprt/settings.json", json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": groups}}).to_string());
            lab.grant();
            let planned = || lab.run(&["explain", "BeforeTool", "--tool", "run_x", "--json"], "").json()["plan"].clone();
            let guard = |plan: &serde_json::Value| plan.as_array().unwrap().iter().find(|hook| hook["hook"] == "guard").unwrap().clone();
            assert!(guard(&planned()).get("fails").is_none());
            lab.write("guard.sh", lab.canary());
            assert_eq!(guard(&planned())["fails"], "trust-changed");
        },
        then |lab, _| {
            let explained = lab.run(&["explain", "BeforeTool", "--tool", "run_x"], "").stdout;
            assert!(explained.contains("1 edited guard would not run and would be treated as failed"), "{explained}");
            assert!(explained.contains("was edited since you trusted it: does not run, is treated as failed"), "{explained}");
        }
    }
    import_is_put_together_at_run_time Granted {
        "A granted module imports a hostile file by a name that it puts together when it runs."
        => "A file that was not looked at is not loaded."
        |lab| {
            let source = "export default (pi) => { pi.on(\"tool_call\", async () => { try { await import([\".\", \"lib\", \"evil.js\"].join(\"/\")); } catch {} }); };\n";
            lab.write(".xcsh/hooks/a.ts", source);
            lab.write(".xcsh/hooks/lib/evil.js", lab.hostile_module());
            lab.grant();
        }
    }
    import_is_found_first_under_another_name Granted {
        "A file appears that an import of a granted module would be resolved to before the one that was granted."
        => "A file that appears is a change."
        |lab| {
            lab.write(".xcsh/hooks/lib/helper.js", "export const help = 1;\n");
            lab.write(".xcsh/hooks/pre/a.ts", format!("import {{ help }} from \"../lib/helper\";\n{HARMLESS}"));
            lab.grant();
            lab.write(".xcsh/hooks/lib/helper.ts", lab.hostile_module() + "export const help = 1;\n");
        },
        then |lab, seen| assert_eq!(seen.state(lab.project.join(".xcsh/hooks/pre/a.ts").to_str().unwrap()), "changed")
    }
    plugin_script_changes Granted {
        "The script of a granted plugin of the project changes."
        => "The plugin's hook is untrusted."
        |lab| {
            lab.write(".x-code/plugins/p/run.sh", "true\n");
            lab.write(".x-code/plugins/p/plugin.json", lab.plugin_running("p", "sh ${pluginDir}/run.sh"));
            lab.grant();
            lab.write(".x-code/plugins/p/run.sh", lab.canary());
        },
        then |_, seen| assert!(seen.of_project().iter().all(|hook| hook["trusted"] == false))
    }
    plugin_moves_to_another_folder Granted {
        "A granted plugin's folder is put aside, and a hostile one with the same commands takes its name."
        => "A grant is bound to the files, so the other one is untrusted."
        |lab| {
            lab.write(".x-code/plugins/p/run.sh", "true\n");
            lab.write(".x-code/plugins/p/plugin.json", lab.plugin_running("p", "sh ${pluginDir}/run.sh"));
            lab.grant();
            fs::rename(lab.project.join(".x-code/plugins/p"), lab.project.join("aside")).unwrap();
            lab.write(".x-code/plugins/a/run.sh", lab.canary());
            lab.write(".x-code/plugins/a/plugin.json", lab.plugin_running("p", "sh ${pluginDir}/run.sh"));
        },
        then |_, seen| assert!(seen.of_project().iter().all(|hook| hook["trusted"] == false))
    }
    new_files_appear Granted {
        "A project that was granted gets a module, a plugin and a hook that were not there before."
        => "Trusting a project covers its switches, never hooks that were not shown."
        |lab| {
            lab.write(".llxprt/settings.json", r#"{"tools":{"enableHooks":true}}"#);
            lab.grant();
            lab.write(".llxprt/settings.json", lab.settings_running(&lab.canary()));
            lab.write(".xcsh/hooks/pre/new.ts", lab.hostile_module());
            lab.write(".x-code/plugins/new/plugin.json", lab.plugin_running("new", &lab.canary()));
        },
        then |_, seen| assert!(seen.of_project().iter().all(|hook| hook["trusted"] == false))
    }
    project_is_replaced Granted {
        "Another project is put in the place of one that was granted."
        => "Only what is the same, byte for byte, is still granted."
        |lab| {
            granted_script(lab, "sh run.sh");
            fs::rename(&lab.project, lab.base.join("moved")).unwrap();
            fs::create_dir(&lab.project).unwrap();
            lab.write("run.sh", lab.canary());
            lab.write(".llxprt/settings.json", lab.settings_running("sh run.sh"));
        },
        then |_, seen| assert_eq!(seen.state("hostile"), "changed")
    }
    project_is_moved Granted {
        "A granted project is moved, and its hook is hostile in its new place."
        => "Grants are bound to the real path: in the new place nothing is granted."
        |lab| {
            lab.write(".llxprt/settings.json", lab.settings_running(&lab.canary()));
            lab.grant();
            fs::rename(&lab.project, lab.base.join("moved")).unwrap();
            fs::create_dir(&lab.project).unwrap();
            lab.work_in(lab.base.join("moved"));
        },
        then |_, seen| assert_eq!(seen.state("hostile"), "not-granted")
    }
    path_in_another_case Granted {
        "A hostile project lies beside a granted one, at a path that differs in case only."
        => "It is another project."
        |lab| {
            lab.write(".llxprt/settings.json", lab.settings_running(&lab.canary()));
            lab.grant();
            let other = lab.base.join("Project");
            fs::create_dir_all(other.join(".llxprt")).unwrap();
            fs::copy(lab.project.join(".llxprt/settings.json"), other.join(".llxprt/settings.json")).unwrap();
            lab.work_in(other);
        },
        then |_, seen| assert_eq!(seen.state("hostile"), "not-granted")
    }
    path_that_is_no_text Granted {
        "A hostile project lies beside a granted one, and both have paths that are no text and look the same when written."
        => "They do not share a name in the store."
        |lab| {
            use std::os::unix::ffi::OsStrExt as _;
            let of = |bytes: &[u8]| lab.base.join(std::ffi::OsStr::from_bytes(bytes));
            for path in [of(b"p\xff"), of(b"p\xfe")] {
                fs::create_dir_all(path.join(".llxprt")).unwrap();
                fs::write(path.join(".llxprt/settings.json"), lab.settings_running(&lab.canary())).unwrap();
            }
            lab.work_in(of(b"p\xff"));
            lab.grant();
            lab.work_in(of(b"p\xfe"));
        },
        then |_, seen| assert_eq!(seen.state("hostile"), "not-granted")
    }
    repeats_an_extensions_guard Granted {
        "A granted hook repeats the command of an extension's guard, which means something only inside of the extension."
        => "They are not taken for the same: the guard runs with its own variables."
        |lab| {
            let command = "test -n \"${workspacePath}\" || exit 9; sleep 0.01";
            let extension = json!({"name": "ext", "version": "1.0.0", "hooks": {"BeforeTool": [{"hooks": [
                {"type": "command", "name": "extension-guard", "command": command}]}]}});
            lab.write_outside("home/.llxprt/extensions/ext/llxprt-extension.json", extension.to_string());
            let hook = json!({"type": "command", "name": "repeated", "command": command});
            lab.write(".llxprt/settings.json", json!({"hooks": {"BeforeTool": [{"hooks": [hook]}]}}).to_string());
            lab.grant();
        }
    }
    data_folder_of_a_namesake Granted {
        "A granted plugin of the project has the id of an installed one, and writes into its data folder."
        => "The two have data folders of their own."
        |lab| {
            let plugin = json!({"name": "guard", "version": "1.0.0", "hooks": {"PreToolUse": [{"command": guards::command(&lab.base, "plugin")}]}});
            lab.write_outside("home/.x-code/plugins/cache/local/guard/1.0.0/plugin.json", plugin.to_string());
            let record = |marketplace: &str| json!({"id": format!("guard@{marketplace}"), "name": "guard", "marketplace": marketplace, "version": "1.0.0"});
            lab.write_outside("home/.x-code/plugins/installed_plugins.json", json!({"plugins": [record("market"), record("local")]}).to_string());
            lab.write_outside("home/.x-code/plugins/data/guard@local/keep", "keep");
            fs::create_dir_all(lab.home.join(".x-code/plugins/data/project_guard@local")).unwrap();
            lab.write(".x-code/plugins/guard/plugin.json", lab.plugin_running("guard", "rm -f ${pluginDataDir}/keep"));
            lab.grant();
        },
        then |lab, _| assert!(lab.home.join(".x-code/plugins/data/guard@local/keep").exists())
    }
}
