//! Symbolic links that lead out of the repository, or pretend to be something inside it.

use std::fs;

use crate::attacks::table::attacks;

attacks! { "Links and places";
    settings_are_a_link_outside Stranger {
        "The settings file is a link to a hostile file outside of the project."
        => "Its hooks are listed as the project's, and untrusted."
        |lab| {
            let outside = lab.write_outside("elsewhere/settings.json", lab.settings_running(&lab.canary()));
            lab.link(".llxprt/settings.json", outside);
        },
        then |_, seen| assert!(seen.of_project().iter().all(|hook| hook["trusted"] == false), "{:?}", seen.of_project())
    }
    settings_are_a_link_to_a_secret Stranger {
        "The settings file is a link to a secret file of the user's, so that an error message would print it."
        => "The error is reported, and no command shows any of the secret."
        |lab| {
            let secret = lab.write_outside("home/.ssh/id", "SECRET-OF-THE-USER is not JSON\n");
            lab.link(".llxprt/settings.json", secret);
        },
        then |_, seen| {
            seen.reports("file-syntax");
            for command in ["check", "check --json", "list", "fire SessionStart --json", "plugin doctor"] {
                let ran = seen.of(command);
                assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("SECRET"), "`{command}`: {ran:?}");
            }
        }
    }
    settings_folder_is_a_link_to_the_users Stranger {
        "The folder `.llxprt` is a link to the user's own, so that the project's file and the user's are one."
        => "The user's hook runs once, as the user's."
        |lab| lab.link(".llxprt", lab.home.join(".llxprt")),
        then |_, seen| assert_eq!(seen.of_project()[0]["trusted"], false)
    }
    settings_are_a_link_to_a_device Stranger {
        "The settings file is a link to `/dev/zero`."
        => "It is reported as unreadable."
        |lab| lab.link(".llxprt/settings.json", "/dev/zero"),
        then |_, seen| seen.reports("file-unreadable")
    }
    settings_are_a_link_to_itself Stranger {
        "The settings file is a link that leads to itself."
        => "It is reported as unreadable."
        |lab| lab.link(".llxprt/settings.json", "settings.json"),
        then |_, seen| seen.reports("file-unreadable")
    }
    module_is_a_link Stranger {
        "A module is a link to a hostile file outside of the project."
        => "It is the project's: untrusted, with its events unknown."
        |lab| {
            let outside = lab.write_outside("elsewhere/evil.ts", lab.hostile_module());
            lab.link(".xcsh/hooks/pre/evil.ts", outside);
        },
        then |_, seen| {
            let hooks = seen.of_project();
            assert!(hooks.len() == 1 && hooks[0]["trusted"] == false && hooks[0]["event"].is_null(), "{hooks:?}");
        }
    }
    module_folder_is_a_link Stranger {
        "The folder of modules is a link to a hostile folder outside of the project."
        => "Its modules are the project's: untrusted, with their events unknown."
        |lab| {
            lab.write_outside("elsewhere/pre/evil.ts", lab.hostile_module());
            lab.link(".xcsh/hooks", lab.base.join("elsewhere"));
        },
        then |_, seen| {
            let hooks = seen.of_project();
            assert!(hooks.len() == 1 && hooks[0]["trusted"] == false && hooks[0]["event"].is_null(), "{hooks:?}");
        }
    }
    module_folder_is_the_users Stranger {
        "The folder of modules is a link to the folder of the user's modules, so that a guard would be taken for the project's."
        => "The user's module stays the user's and needs no grant."
        |lab| lab.link(".xcsh/hooks", lab.home.join(".xcsh/agent/hooks"))
    }
    plugin_folder_is_a_link_outside Stranger {
        "A plugin's folder is a link to a hostile plugin outside of the project."
        => "Its hooks are the project's, and untrusted."
        |lab| {
            lab.write_outside("elsewhere/plugin.json", lab.plugin_running("evil", &lab.canary()));
            lab.link(".x-code/plugins/evil", lab.base.join("elsewhere"));
        },
        then |_, seen| assert!(seen.of_project().iter().all(|hook| hook["trusted"] == false))
    }
    plugins_are_a_link_to_the_installed_ones Stranger {
        "The folder of plugins is a link to the folder of installed plugins, so that a guard would be loaded as the project's."
        => "The installed plugin runs once, as an installed one."
        |lab| lab.link(".x-code/plugins", lab.home.join(".x-code/plugins")),
        then |_, seen| assert!(seen.of_project().is_empty())
    }
    plugin_manifest_is_a_link_outside Stranger {
        "A plugin's manifest is a link to a file outside of the plugin."
        => "It is reported as a path outside of the plugin, and not read."
        |lab| {
            let outside = lab.write("evil.json", lab.plugin_running("evil", &lab.canary()));
            lab.link(".x-code/plugins/evil/plugin.json", outside);
        },
        then |_, seen| { seen.reports("plugin-path"); assert!(seen.of_project().is_empty()); }
    }
    manifest_names_hooks_outside Stranger {
        "A plugin's manifest names a file of hooks with `..` in its path."
        => "It is reported as a path outside of the plugin, and not read."
        |lab| {
            lab.write("hooks.json", lab.plugin_running("evil", &lab.canary()));
            lab.write(".x-code/plugins/evil/plugin.json", r#"{"name": "evil", "hooks": "../../../hooks.json"}"#);
        },
        then |_, seen| { seen.reports("plugin-path"); assert!(seen.of_project().is_empty()); }
    }
    manifest_names_hooks_absolutely Stranger {
        "A plugin's manifest names the settings of its user as its file of hooks."
        => "It is reported as a path outside of the plugin, and not read."
        |lab| {
            let path = lab.home.join(".llxprt/settings.json");
            lab.write(".x-code/plugins/evil/plugin.json", serde_json::json!({"name": "evil", "hooks": path}).to_string());
        },
        then |_, seen| seen.reports("plugin-path")
    }
    script_is_a_link_outside Stranger {
        "A hook's script is a link to a hostile script outside of the project."
        => "The link's target is what a grant would cover."
        |lab| {
            let outside = lab.write_outside("elsewhere/evil.sh", lab.canary());
            lab.link("evil.sh", outside);
            lab.write(".llxprt/settings.json", lab.settings_running("sh ./evil.sh"));
        },
        then |lab, seen| {
            let status = seen.of("trust status --json").json();
            assert_eq!(status["hooks"][0]["files"][0], *lab.project.join("evil.sh").to_string_lossy());
        }
    }
    settings_are_a_hard_link Stranger {
        "The settings file is a hard link to the user's own."
        => "The user's hook runs once, as the user's; the project's copy is untrusted."
        |lab| {
            fs::create_dir(lab.project.join(".llxprt")).unwrap();
            fs::hard_link(lab.home.join(".llxprt/settings.json"), lab.project.join(".llxprt/settings.json")).unwrap();
        },
        then |_, seen| assert_eq!(seen.of_project()[0]["trusted"], false)
    }
}
