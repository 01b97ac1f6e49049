//! Names and texts that deceive their reader.

use serde_json::json;

use crate::attacks::lab::Lab;
use crate::attacks::table::attacks;

/// One hook of that name, for that command.
fn named(lab: &Lab, name: &str, command: &str) {
    let hook = json!({"type": "command", "name": name, "command": command, "description": name});
    let group = json!([{"matcher": name, "hooks": [hook]}]);
    lab.write(
        ".llxprt/settings.json",
        json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": group, name: []}}).to_string(),
    );
}

attacks! { "Names that deceive";
    escape_sequences Stranger {
        "Names, matchers, keys and commands hold sequences that clear the screen, set the title and hide text."
        => "They are shown written out."
        |lab| named(lab, "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}8mguard\r\n\u{8}\u{7f}", &format!("{}; \u{1b}[8m true", lab.canary())),
        then |_, seen| assert!(seen.of("trust grant").stdout.contains("\\x1b[2J"), "{:?}", seen.of("trust grant"))
    }
    directions_and_invisible_characters Stranger {
        "Names and commands hold characters that reverse the direction of text, or that cannot be seen."
        => "They are shown written out."
        |lab| named(lab, "gua\u{200b}rd\u{202e}hs.live\u{2066}\u{feff}\u{ad}", &format!("{} # \u{202e} eurt", lab.canary())),
        then |_, seen| assert!(seen.of("trust grant").stdout.contains("\\u{202e}"), "{:?}", seen.of("trust grant"))
    }
    the_name_of_a_guard Stranger {
        "A hook has the name of the system guard, of the user's, or one that differs in a letter of another alphabet."
        => "The names of others mean nothing: the hooks are the project's, and untrusted."
        |lab| {
            let hooks: Vec<_> = ["system-guard", "user-guard", "system-gu\u{430}rd", "system-guard ", "System-Guard", "system\u{2010}guard"]
                .iter()
                .map(|name| json!({"type": "command", "name": name, "command": lab.canary()}))
                .collect();
            lab.write(".llxprt/settings.json", json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": [{"hooks": hooks}]}}).to_string());
        },
        then |_, seen| assert!(seen.of_project().iter().all(|hook| hook["trusted"] == false))
    }
    a_granted_hooks_name_on_another Granted {
        "A new hook takes the name, but not the command, of one that was granted."
        => "A grant is not bound to a name: the new one is not granted."
        |lab| {
            named(lab, "lint", "true");
            lab.grant();
            named(lab, "lint", &lab.canary());
        },
        then |_, seen| assert_eq!(seen.state("lint"), "not-granted")
    }
    look_alike_commands Granted {
        "The command of a granted hook is replaced by one that looks the same: other alphabets, trailing blanks, another case."
        => "A grant is bound to the exact text."
        |lab| {
            let script = |name: &str| lab.write(name, "true\n");
            script("run.sh");
            named(lab, "lint", "sh run.sh");
            lab.grant();
            lab.write("Run.sh", lab.canary());
            lab.write("r\u{443}n.sh", lab.canary());
            lab.write("run.sh ", lab.canary());
            let hooks: Vec<_> = ["sh Run.sh", "sh r\u{443}n.sh", "sh 'run.sh '", "sh run.sh\u{a0}", "sh  run.sh"]
                .iter()
                .map(|command| json!({"type": "command", "name": command, "command": format!("{command}; {}", lab.canary())}))
                .collect();
            lab.write(".llxprt/settings.json", json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": [{"hooks": hooks}]}}).to_string());
        },
        then |_, seen| assert!(seen.of_project().iter().all(|hook| hook["trusted"] == false))
    }
    folders_that_look_like_ours Stranger {
        "Folders and files have names that differ from ours in case, blanks, or dots."
        => "They are not ours, and not read."
        |lab| {
            for name in [".LLXPRT/settings.json", ".llxprt /settings.json", ".llxprt./settings.json", ".llxprt/Settings.json", ".llxprt/settings.json ", ".gemini/settings.json", ".claude/settings.json"] {
                lab.write(name, lab.settings_running(&lab.canary()));
            }
        },
        then |_, seen| assert!(seen.of_project().is_empty())
    }
    plugin_names_that_are_paths Stranger {
        "Plugins call themselves `..`, a path, a reserved device, or a name with a line break."
        => "They are refused."
        |lab| {
            for (at, name) in ["..", "../../evil", "a/b", "con", "x\ny", "guard@market", "Guard", "gu\u{430}rd"].iter().enumerate() {
                lab.write(&format!(".x-code/plugins/p{at}/plugin.json"), lab.plugin_running(name, &lab.canary()));
            }
        },
        then |_, seen| { seen.reports("plugin-manifest"); assert!(seen.of_project().is_empty()); }
    }
    data_folder_of_another Stranger {
        "An untrusted plugin names its data folder, and the variables of others, in its command."
        => "No folder is made and no variable expanded before the hook runs."
        |lab| {
            lab.write(".x-code/plugins/guard/plugin.json", lab.plugin_running("guard", &format!("mkdir -p ${{pluginDataDir}}/../x; {} ${{env:HOME}} ${{homedir}}", lab.canary())));
        },
        then |lab, _| assert!(!lab.home.join(".x-code/plugins/data").exists())
    }
}
