//! A fix for diagnostics of the engine that say what is wrong and not what to do. Text for people is in the command line.

use hookrail::{Code, Diagnostic};

use super::events::{is_of_plugin, translated};
use super::modules::module_event_hint;
use super::variables::meant_in_plugin;

/// Adds the usual fix to a diagnostic without one.
pub fn with_advice(mut diagnostic: Diagnostic) -> Diagnostic {
    if diagnostic.code == Code::UnknownEvent {
        diagnostic = translated(diagnostic);
    }
    if diagnostic.code == Code::ModuleEvent
        && let Some(hint) = diagnostic.message.split('`').nth(3).and_then(module_event_hint)
    {
        diagnostic.hint = Some(hint);
    }
    if diagnostic.code == Code::VariableUnknown
        && let Some(name) = diagnostic.message.split(['{', '}']).nth(1)
        && let Some(ours) = meant_in_plugin(name)
    {
        diagnostic.hint = Some(format!("write `{ours}`"));
    }
    if diagnostic.hint.is_none() && diagnostic.code == Code::UnknownKey {
        diagnostic.hint = diagnostic.location.as_ref().map(|place| {
            let is_plugin = is_of_plugin(&place.file);
            let schema = if is_plugin { "plugin-hooks" } else { "settings" };
            let key = diagnostic.message.split('`').nth(1).unwrap_or_default();
            let other = OTHER_KEYS.iter().find(|(other, plugin, _)| *other == key && *plugin == is_plugin);
            match other {
                Some((_, _, hint)) => (*hint).to_owned(),
                None => format!("remove it; `hookrail schema {schema}` lists the keys"),
            }
        });
    }
    if diagnostic.code == Code::MatcherInvalid && diagnostic.message.contains("`(?i") {
        diagnostic.hint =
            Some("leave out `(?i)`: patterns have no flags, and names have the case of the tool".to_owned());
    }
    let in_plugin = diagnostic.location.as_ref().is_some_and(|place| is_of_plugin(&place.file));
    if diagnostic.hint.is_none() && in_plugin {
        diagnostic.hint = usual_fix_in_plugin(diagnostic.code).map(str::to_owned);
    }
    if diagnostic.hint.is_none() {
        diagnostic.hint = usual_fix(diagnostic.code).map(str::to_owned);
    }
    diagnostic
}

/// Keys of other agents, or of another kind of hook, whether in a plugin's file, and what to write instead.
const OTHER_KEYS: [(&str, bool, &str); 8] = [
    ("failurePolicy", false, "write `onFailure`"),
    ("onFailure", true, "write `failurePolicy`"),
    ("env", false, "set variables in the command, as in `NAME=value ./guard.sh`"),
    ("env", true, "set variables in the command, as in `NAME=value ${pluginDir}/guard.sh`"),
    ("cwd", false, "change the directory in the command, as in `cd sub && ./guard.sh`"),
    ("async", false, "remove it; every hook of a gating event is waited for"),
    ("if", false, "remove it, and look at `tool_input` in the hook"),
    ("once", false, "remove it; a hook runs for every event that its matcher selects"),
];

/// The usual fix where the form of a plugin's file differs from that of settings.
fn usual_fix_in_plugin(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::EventShape => "write a list: `[{\"command\": \"…\"}]`",
        Code::HookShape => "write an object: `{\"command\": \"…\"}`",
        Code::HookCommand => "write what the shell runs: `\"command\": \"${pluginDir}/guard.sh\"`",
        _ => return None,
    })
}

fn usual_fix(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::FileSyntax => {
            "`hookrail docs reference/settings` shows the form; comments and trailing commas are allowed"
        }
        Code::FileEmpty => "write the settings again, or remove the file",
        Code::FileShape => "write one object: `{ … }`",
        Code::SettingType => "write a value of that type",
        Code::EventShape => "write a list: `[{\"hooks\": […]}]`",
        Code::HookShape => "write an object: `{\"type\": \"command\", \"command\": \"…\"}`",
        Code::HookCommand => "write what the shell runs: `\"command\": \"./guard.sh\"`",
        Code::HookType => "write `\"type\": \"command\"`",
        Code::LegacyKey => "move it to `hooksConfig`",
        Code::UnknownEvent => "`hookrail reference events` lists the events",
        Code::DuplicateKey => "keep one of them",
        Code::SettingValue => "write one of the values that the message names",
        Code::MatcherInvalid | Code::HooksMatcherInvalid => {
            "close its brackets, or put `\\\\` before a character that is meant as itself"
        }
        Code::MatcherIgnored => "remove the matcher",
        Code::TimeoutInvalid | Code::TimeoutClamped => {
            "write a smaller number of milliseconds, as in `\"timeout\": 5000`"
        }
        Code::VariableUnknown => {
            "the variables are `pluginDir`, `pluginDataDir`, `cwd`, `homedir`, `sep` and `env:NAME`"
        }
        Code::AnswerField => "print a value of that type, or leave the field out",
        Code::AnswerUnknownField => "leave it out",
        Code::AnswerDuplicateKey => "print every key once",
        Code::AnswerIgnored => "leave it out, or use an event on which it has an effect",
        Code::BadOutput => "print one JSON object and nothing else",
        Code::CapabilityRefused => "let the module do without it, or declare and grant the capability",
        Code::HookThrew => "catch the error in the handler, or repair what it names",
        Code::HookExited => "exit with 0 if all is well",
        Code::HookSignalled => "look for what ended it, such as a limit of memory",
        Code::OutputLimit => "print the answer alone, and logs to standard error",
        Code::ModuleLoad => "correct the module at this place; it does not run until then",
        Code::ModuleRegistration => "give it a function, or remove the registration",
        Code::ModuleEvent => "`hookrail reference events` lists the events",
        Code::ModuleOpaque => "trust the project with `hookrail trust grant` to see what it registers",
        Code::NotExecutable => "write `\"type\": \"command\"`",
        Code::PluginManifest | Code::PluginMissing | Code::PluginRegistry => "run `hookrail plugin doctor`",
        _ => return None,
    })
}
