//! The examples below each command's help.

pub(super) const ALL: &str = "\
EXAMPLES:
  hookrail demo                                        see it work, in a temporary project
  hookrail init                                        create a first hook
  hookrail trust grant                                 let the project's hooks run
  hookrail install claude                              make Claude Code ask them before it acts
  hookrail fire BeforeTool --tool write_file --tool-input '{\"path\":\".env\"}'
  hookrail explain BeforeTool --tool write_file        why does a hook run, or not?
  hookrail try ./guard.sh --event BeforeTool           run one script without any settings
  hookrail dev                                         fire again whenever a hook is saved";

pub(super) const DEMO: &str = "\
EXAMPLES:
  hookrail demo
  hookrail demo --keep           look at the sample project afterwards";

pub(super) const DEV: &str = "\
EXAMPLES:
  hookrail dev                                 the last recorded event, else a sample
  hookrail dev guard                           an event that the hook `guard` is for
  hookrail dev --event BeforeTool --tool run_shell_command --tool-input '{\"command\":\"rm -r /\"}'
  hookrail dev --hook ./guard.ts               a module that needs neither settings nor a grant
  hookrail dev --once                          fire once and end";

pub(super) const TRY: &str = "\
EXAMPLES:
  hookrail try ./guard.sh
  hookrail try ./guard.py --event BeforeTool --tool write_file --input '{\"path\":\".env\"}'
  hookrail try ./guard.ts --event tool_call
  hookrail try ./lint.sh --event PostToolUse --dialect xcode";

pub(super) const MAN: &str = "\
EXAMPLES:
  hookrail man ~/.local/share/man/man1         then `man hookrail-fire`";

pub(super) const FIRE: &str = "\
EXAMPLES:
  hookrail fire BeforeTool --tool write_file --tool-input '{\"path\":\".env\"}'
  hookrail fire SessionStart --payload '{\"source\":\"startup\"}'
  hookrail fire BeforeTool --tool write_file -v   with what each hook received and wrote
  hookrail fire PreToolUse --payload @event.json --json
  echo '{\"prompt\":\"hello\"}' | hookrail fire prompt --payload -";

pub(super) const AGENT: &str = "\
EXAMPLES:
  hookrail demo --keep                                a sample project, and how to run the agent in it
  hookrail agent --script talk.jsonl                  on a terminal: an interactive session
  hookrail agent --script talk.jsonl --prompt 'tidy up'
  echo 'tidy up' | hookrail agent --script talk.jsonl
  hookrail agent --script talk.jsonl --headless --prompt 'tidy up' | jq -r 'select(.type == \"receipt\")'
  hookrail agent --script talk.jsonl --resume         continue the last session";

pub(super) const LIST: &str = "\
EXAMPLES:
  hookrail list
  hookrail list --project ../other --json";

pub(super) const ACCESSES: &str = "\
EXAMPLES:
  hookrail accesses -- 'cd build && rm -rf ../dist'
  hookrail accesses --json --line-from script.sh
  echo 'curl -fsSL https://example.com | sh' | hookrail accesses --line-from -";

pub(super) const CHECK: &str = "\
EXAMPLES:
  hookrail check
  hookrail check --strict                  for continuous integration
  hookrail check --strict --format github  with findings beside the lines of a pull request
  hookrail check --fix                     repair what can be repaired mechanically";

pub(super) const EXPLAIN: &str = "\
EXAMPLES:
  hookrail explain BeforeTool --tool write_file
  hookrail explain session-start --payload '{\"source\":\"resume\"}' --json
  hookrail explain before-tool --tool write_file --agent codex";

pub(super) const TRUST: &str = "\
EXAMPLES:
  hookrail trust                           the same as `hookrail trust status`
  hookrail trust grant
  hookrail trust revoke";

pub(super) const TRUST_STATUS: &str = "\
EXAMPLES:
  hookrail trust status
  hookrail trust status --json";

pub(super) const TRUST_GRANT: &str = "\
EXAMPLES:
  hookrail trust grant                     the project and all its hooks
  hookrail trust grant lint format         only these hooks
  hookrail trust grant --yes               without a question";

pub(super) const TRUST_DIFF: &str = "\
EXAMPLES:
  hookrail trust diff                      each hook as it was and as it is
  hookrail trust diff --json";

pub(super) const TRUST_REVOKE: &str = "\
EXAMPLES:
  hookrail trust revoke                    everything about this project
  hookrail trust revoke lint               only this hook";

pub(super) const PLUGIN: &str = "\
EXAMPLES:
  hookrail plugin list
  hookrail plugin install ./ts-lint-gate
  hookrail plugin disable ts-lint-gate@local
  hookrail plugin doctor                   why does a plugin's hook not run?";

pub(super) const PLUGIN_LIST: &str = "\
EXAMPLES:
  hookrail plugin list
  hookrail plugin list --json";

pub(super) const PLUGIN_DOCTOR: &str = "\
EXAMPLES:
  hookrail plugin doctor
  hookrail plugin doctor --json";

pub(super) const PLUGIN_ENABLE: &str = "\
EXAMPLES:
  hookrail plugin disable linear@anthropic-marketplace
  hookrail plugin enable linear@anthropic-marketplace
  hookrail plugin disable gate@local --scope project";

pub(super) const PLUGIN_INSTALL: &str = "\
EXAMPLES:
  hookrail plugin install ./ts-lint-gate   shows what it would run, then asks
  hookrail plugin install ./ts-lint-gate --yes
  hookrail plugin uninstall ts-lint-gate@local";

macro_rules! serve {
    () => {
        "\
EXAMPLES:
  hookrail serve --stdio
  hookrail serve --socket /run/user/1000/hookrail.sock
  hookrail serve --socket hookrail.sock --metrics 9464 --limit 128
  RUST_LOG=hookrail::bus=info hookrail serve --socket hookrail.sock --log-format json
                                           also log every event that is denied, asked about or stopped"
    };
}

#[cfg(not(feature = "fleet"))]
pub(super) const SERVE: &str = serve!();

#[cfg(feature = "fleet")]
pub(super) const SERVE: &str = concat!(
    serve!(),
    "\n  hookrail serve --nats tls://n1.example.com:4222 --group guards --member guard.toml\n                                           answer remote hooks of other machines"
);

pub(super) const RELOAD: &str = "\
EXAMPLES:
  hookrail reload
  hookrail reload --socket /run/user/1000/hookrail.sock";

pub(super) const NEW: &str = "\
EXAMPLES:
  hookrail new protect-files                         a shell script for BeforeTool
  hookrail new protect-files --lang python --event AfterTool
  hookrail new no-force-push --lang typescript       a module
  hookrail new gate --dialect xcode --lang node      a plugin
  hookrail new fast-guard --lang rust

LANGUAGES:
  llxprt  bash, python, node, rust
  xcode   bash, python, node, rust
  xcsh    typescript, node";

pub(super) const TEST: &str = "\
EXAMPLES:
  hookrail test                                 every case of the project, after `hookrail trust grant`
  hookrail test --trust-project                 without grants, and with cases that bring code; for continuous integration
  hookrail test .llxprt/hooks -E secret         the cases below a folder whose file or name contains `secret`
  hookrail test -E event:BeforeTool -E '!slow'
  hookrail test --watch                         again whenever a hook or a case changes
  hookrail test --accept                        store the outcomes of cases with `snapshot = true`
  hookrail test --format junit > results.xml";

pub(super) const RECORD: &str = "\
EXAMPLES:
  hookrail record --since 1h                            print the events of the last hour as cases
  hookrail record guard.hooktest.toml --decision deny   add those that were denied to a case file
  hookrail record guard.hooktest.toml --follow --count 1
                                                        wait for the next event";

pub(super) const INIT: &str = "\
EXAMPLES:
  hookrail init
  hookrail init --lang python
  hookrail init --project ../other";

pub(super) const ADD: &str = "\
EXAMPLES:
  hookrail add                                list the recipes
  hookrail add secret-scan
  hookrail add secret-scan no-force-push";

pub(super) const TYPES: &str = "\
EXAMPLES:
  hookrail types                           for the hooks that the project has
  hookrail types --lang python             for scripts in .llxprt/hooks
  hookrail types --lang node
  hookrail types --out src/types";

pub(super) const SCHEMA: &str = "\
EXAMPLES:
  hookrail schema                          the names of all schemas
  hookrail schema settings > .llxprt/settings.schema.json
                                           then `\"$schema\": \"./settings.schema.json\"` in settings.json
  hookrail schema BeforeTool.stdin         what a BeforeTool hook receives";

pub(super) const REFERENCE: &str = "\
EXAMPLES:
  hookrail reference events
  hookrail reference diagnostics
  hookrail reference bus";

pub(super) const DOCS: &str = "\
EXAMPLES:
  hookrail docs                            the topics
  hookrail docs cookbook
  hookrail docs hooks | less";

pub(super) const COMPLETIONS: &str = "\
EXAMPLES:
  hookrail completions bash > ~/.local/share/bash-completion/completions/hookrail
  hookrail completions zsh > ~/.zfunc/_hookrail
  hookrail completions fish > ~/.config/fish/completions/hookrail.fish";

pub(super) const BRIDGE: &str = "\
EXAMPLES:
  hookrail bridge claude < payload.json
  hookrail bridge copilot --event preToolUse --deadline 24000 < payload.json";

pub(super) const INSTALL: &str = "\
EXAMPLES:
  hookrail install claude                       for all sessions of this user
  hookrail install gemini --scope project       for the sessions in this project
  hookrail install codex --trust                and record the hooks as reviewed
  hookrail install claude --events before-tool  for tool calls only
  hookrail install qwen --dry-run               show the change and write nothing";

pub(super) const UNINSTALL: &str = "\
EXAMPLES:
  hookrail uninstall claude
  hookrail uninstall codex --yes";

pub(super) const DOCTOR: &str = "\
EXAMPLES:
  hookrail doctor                every agent that is installed
  hookrail doctor codex --json";

pub(super) const LOG: &str = "\
EXAMPLES:
  hookrail log --since 1d                       everything of the last day
  hookrail log --denied -n 20                   the last 20 events that were denied
  hookrail log --hook guard --follow            what a hook decides, as it happens
  hookrail log --denied --format csv > denied.csv
  hookrail log --json | jq -r .tool | sort | uniq -c";

pub(super) const STATS: &str = "\
EXAMPLES:
  hookrail stats --since 1w
  hookrail stats --hook guard --json";

pub(super) const REPLAY: &str = "\
EXAMPLES:
  hookrail replay --since 1d                          would today's hooks decide the same?
  hookrail replay --against ../new-guards             before new hooks are put in force
  hookrail replay --session 4f2a --json";

pub(super) const JOURNAL: &str = "\
EXAMPLES:
  hookrail journal head > head.txt              keep it on another machine
  hookrail journal verify
  hookrail journal export --fixture --decision deny > denied.hooktest.json";

pub(super) const JOURNAL_HEAD: &str = "\
EXAMPLES:
  hookrail journal head
  hookrail journal head --json";

pub(super) const JOURNAL_VERIFY: &str = "\
EXAMPLES:
  hookrail journal verify
  hookrail journal verify --head 60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752";

pub(super) const JOURNAL_EXPORT: &str = "\
EXAMPLES:
  hookrail journal export --fixture --since 1d > day.hooktest.json
  hookrail journal export --fixture --session 4f2a --event before-tool";

#[cfg(feature = "inspect")]
pub(super) const INSPECT: &str = "\
EXAMPLES:
  hookrail inspect                              open the page
  hookrail inspect --no-open --port 8080        print its address only
  hookrail inspect --since 1d --export yesterday.html
                                                write a file that can be sent
  hookrail inspect --allow-run                  also fire events from the page";

#[cfg(feature = "fleet")]
pub(super) use bundle::*;

#[cfg(feature = "fleet")]
mod bundle {
    pub(in super::super) const BUNDLE: &str = "\
EXAMPLES:
  hookrail bundle keygen acme                make acme.key and acme.pub
  hookrail bundle build policy --out dist --tenant acme --channel stable
  hookrail bundle sign dist --key acme.key
  sudo hookrail bundle apply                 on a machine with /etc/hookrail/fleet.toml
  hookrail bundle status";

    pub(in super::super) const BUNDLE_KEYGEN: &str = "\
EXAMPLES:
  hookrail bundle keygen acme
  hookrail bundle keygen ci --no-password    for a place that keeps secrets";

    pub(in super::super) const BUNDLE_BUILD: &str = "\
EXAMPLES:
  hookrail bundle build policy --out dist --tenant acme --channel stable --expires 90d
  hookrail bundle build policy --out dist --tenant acme --channel stable --percent 10
  hookrail bundle build policy --out dist --tenant acme --channel stable --shadow
  hookrail bundle build --archive DIGEST --out dist --tenant acme --channel stable
                                             a rollback: a higher version with an old archive";

    pub(in super::super) const BUNDLE_SIGN: &str = "\
EXAMPLES:
  hookrail bundle sign dist --key acme.key
  minisign -Sm dist/manifest.json -s acme.key
                                             the same with the program minisign";

    pub(in super::super) const BUNDLE_PUBLISH: &str = "\
EXAMPLES:
  hookrail bundle publish dist --member fleet/tenants/acme/publisher.toml";

    pub(in super::super) const BUNDLE_VERIFY: &str = "\
EXAMPLES:
  hookrail bundle verify dist --key acme.pub
  hookrail bundle verify https://policy.example.com/acme --key acme.pub --json
  hookrail bundle verify                     the configured source, with the configured keys";

    pub(in super::super) const BUNDLE_INSPECT: &str = "\
EXAMPLES:
  hookrail bundle inspect dist
  hookrail bundle inspect dist --json";

    pub(in super::super) const BUNDLE_DIFF: &str = "\
EXAMPLES:
  hookrail bundle diff published dist
  hookrail bundle diff published dist --json";

    pub(in super::super) const BUNDLE_APPLY: &str = "\
EXAMPLES:
  hookrail bundle apply                      as root: from the configured source, for all users
  hookrail bundle apply /mnt/usb/dist        from another place, with the same rules
  hookrail bundle apply --scope user         for this user only";

    pub(in super::super) const BUNDLE_STATUS: &str = "\
EXAMPLES:
  hookrail bundle status --scope system
  hookrail bundle status --scope user --json";

    pub(in super::super) const FLEET: &str = "\
EXAMPLES:
  hookrail fleet init fleet --server n1=127.0.0.1:4222 --tenant acme
  hookrail fleet setup --member fleet/tenants/acme/administrator.toml
  sudo hookrail fleet enroll                 on a machine with /etc/hookrail/fleet.toml
  hookrail fleet ship --follow
  hookrail fleet verify --member fleet/tenants/acme/auditor.toml";

    pub(in super::super) const FLEET_INIT: &str = "\
EXAMPLES:
  hookrail fleet init fleet --server n1=127.0.0.1:4222 --tenant acme
  hookrail fleet init fleet --server n1=n1.example.com:4222 --server n2=n2.example.com:4222 \\
      --server n3=n3.example.com:4222 --tenant acme --tls /etc/nats/tls
  nats-server -c fleet/n1.conf               on each server, with the folder copied to it";

    pub(in super::super) const FLEET_SETUP: &str = "\
EXAMPLES:
  hookrail fleet setup --member fleet/tenants/acme/administrator.toml
  hookrail fleet setup --member administrator.toml --channel stable --channel canary";

    pub(in super::super) const FLEET_ENROLL: &str = "\
EXAMPLES:
  sudo hookrail fleet enroll                 make the key that [nats] of /etc/hookrail/fleet.toml names
  sudo hookrail fleet enroll --rotate        replace it
  hookrail fleet enroll --member member.toml --json";

    pub(in super::super) const FLEET_ADMIT: &str = "\
EXAMPLES:
  hookrail fleet admit fleet --tenant acme --name laptop-7 --key U... --signing-key V...
  hookrail fleet admit fleet --tenant acme --name guard-1 --key U... --role worker --group guards
  hookrail fleet admit fleet --tenant acme --name laptop-7 --key U... --signing-key V... --replace
  nats-server --signal reload                then, on each server";

    pub(in super::super) const FLEET_REVOKE: &str = "\
EXAMPLES:
  hookrail fleet revoke fleet --tenant acme --name laptop-7
  nats-server --signal reload                then, on each server";

    pub(in super::super) const FLEET_SHIP: &str = "\
EXAMPLES:
  hookrail fleet ship                        everything that waits
  hookrail fleet ship --follow               as a service
  hookrail fleet ship --member member.toml --json";

    pub(in super::super) const FLEET_VERIFY: &str = "\
EXAMPLES:
  hookrail fleet verify --member fleet/tenants/acme/auditor.toml
  hookrail fleet verify --member auditor.toml --fleet fleet --silence 7d --json";

    pub(in super::super) const FLEET_WATCH: &str = "\
EXAMPLES:
  sudo hookrail fleet watch                  as a service
  hookrail fleet watch --scope user --jitter 10s";

    pub(in super::super) const FLEET_STATUS: &str = "\
EXAMPLES:
  hookrail fleet status
  hookrail fleet status --offline --json     for a monitor";
}
