//! The guards of the user outside of every repository: one in every layer and every dialect. Each of them takes longer
//! than a millisecond, leaves a trace, and denies what is forbidden.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// The names under which the guards appear in an outcome, in the order in which they run.
pub(crate) fn labels(base: &Path) -> Vec<String> {
    vec![
        "user-guard".to_owned(),
        "system-guard".to_owned(),
        "extension-guard".to_owned(),
        format!("guard@market: {}", command(base, "plugin")),
        base.join("home/.xcsh/agent/hooks/pre/guard.ts").to_string_lossy().into_owned(),
    ]
}

/// The command of the guard of that name.
pub(crate) fn command(base: &Path, name: &str) -> String {
    format!("sh {}", base.join("guards").join(format!("{name}.sh")).display())
}

/// Puts all of them in their places.
pub(crate) fn install(base: &Path) {
    let write = |path: &str, text: &str| {
        let path = base.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for name in ["system", "user", "extension"] {
        write(
            &format!("guards/{name}.sh"),
            "sleep 0.01; read -r event; case $event in *forbidden*) echo 'this is forbidden' >&2; exit 2;; esac\n",
        );
    }
    write("guards/plugin.sh", "sleep 0.01; read -r event; echo '{\"decision\":\"allow\"}'\n");
    let settings = |hooks: Value| json!({"tools": {"enableHooks": true}, "hooks": hooks}).to_string();
    let entry = |name: &str| json!([{"hooks": [{"type": "command", "name": format!("{name}-guard"), "command": command(base, name)}]}]);
    write("system.json", &settings(json!({"BeforeTool": entry("system")})));
    write("home/.llxprt/settings.json", &settings(json!({"BeforeTool": entry("user")})));
    let extension = json!({"name": "ext", "version": "1.0.0", "hooks": {"BeforeTool": entry("extension")}});
    write("home/.llxprt/extensions/ext/llxprt-extension.json", &extension.to_string());
    let plugin =
        json!({"name": "guard", "version": "1.0.0", "hooks": {"PreToolUse": [{"command": command(base, "plugin")}]}});
    write("home/.x-code/plugins/cache/market/guard/1.0.0/plugin.json", &plugin.to_string());
    let installed =
        json!({"plugins": [{"id": "guard@market", "name": "guard", "marketplace": "market", "version": "1.0.0"}]});
    write("home/.x-code/plugins/installed_plugins.json", &installed.to_string());
    write(
        "home/.xcsh/agent/hooks/pre/guard.ts",
        "export default (pi: any) => { pi.on(\"tool_call\", async () => undefined); };\n",
    );
}
