//! `docker`: images, containers, and what runs in them.

use super::{Call, divide};
use crate::accesses::evaluate::Evaluator;
use crate::accesses::options::Arg;
use crate::accesses::record::{Reach, Use};
use crate::facts::{Executed, FactKind, FactSet, NetworkHost, Why};
use crate::resolve::Value;

const RUN_VALUED: &str = "v e w p u h l m a c volume env workdir publish user name network net mount entrypoint hostname label \
    memory cpus add-host device env-file restart platform pull gpus ip link log-driver log-opt shm-size tmpfs ulimit cap-add cap-drop \
    security-opt dns expose group-add health-cmd ipc isolation pid runtime stop-signal userns uts volumes-from cidfile annotation \
    cgroupns cpu-shares cpuset-cpus sysctl storage-opt network-alias attach";

impl Evaluator<'_> {
    pub(super) fn docker(&mut self, call: &Call<'_>) {
        let divided = divide(call.args, "H c host context config l log-level", "", true);
        let Some((subcommand, rest)) = divided.operands.split_first() else { return };
        self.set_subcommand(subcommand.text());
        let (name, rest) = match (subcommand.text(), rest.split_first()) {
            ("container" | "image" | "buildx" | "builder", Some((second, rest))) => (second.text(), rest),
            (name, _) => (name, rest),
        };
        match name {
            "run" | "create" => self.docker_run(rest, call),
            "exec" => self.docker_exec(rest, call),
            "unshare" => {
                self.wrapped(call.name, rest, call.span, call.world.child(), call.input);
            }
            "build" | "bake" => {
                self.task("image", "build", call.span);
                self.network(NetworkHost::Registry("docker".to_owned()), call.span);
                self.unknown(Why::Container, FactSet::EFFECTS, call.span);
            }
            "login" | "logout" => {
                let file = Value::known(format!("{}/.docker/config.json", self.scene.home));
                self.use_value(Use::Write, &file, call.span, call.world);
                if name == "login" {
                    self.network(NetworkHost::Registry("docker".to_owned()), call.span);
                }
            }
            "pull" | "push" | "search" | "manifest" => {
                self.network(NetworkHost::Registry("docker".to_owned()), call.span);
            }
            "cp" => self.docker_copy(rest, call),
            "save" | "export" => {
                for file in divide(rest, "o output", "", false).values(&["o", "output"]) {
                    self.use_value(Use::Write, &file.value, file.span, call.world);
                }
            }
            "load" | "import" => {
                for file in divide(rest, "i input", "", false).values(&["i", "input"]) {
                    self.use_value(Use::Read, &file.value, file.span, call.world);
                }
            }
            "compose" | "stack" | "swarm" | "start" | "restart" | "commit" => {
                self.docker_compose(name, rest, call);
            }
            "ps" | "images" | "logs" | "inspect" | "version" | "info" | "stats" | "top" | "port" | "diff"
            | "history" | "ls" | "rm" | "rmi" | "stop" | "kill" | "pause" | "unpause" | "rename" | "tag" | "wait"
            | "events" | "volume" | "network" | "system" | "prune" | "context" | "update" | "attach" => {}
            _ => self.unknown(Why::Subcommand, FactSet::EFFECTS, call.span),
        }
    }

    fn docker_run(&mut self, args: &[Arg], call: &Call<'_>) {
        let divided = divide(args, RUN_VALUED, "", true);
        for file in divided.values(&["env-file"]) {
            self.use_value(Use::Read, &file.value, file.span, call.world);
        }
        if let Some((image, command)) = divided.operands.split_first() {
            self.task("image", image.text(), image.span);
            let mounts: Vec<(String, String)> =
                divided.values(&["v", "volume", "mount"]).filter_map(|arg| mount(arg.text())).collect();
            self.inside(command, &mounts, call);
        }
        self.network(NetworkHost::Registry("docker".to_owned()), call.span);
        self.unknown(Why::Container, FactSet::EFFECTS, call.span);
    }

    fn docker_exec(&mut self, args: &[Arg], call: &Call<'_>) {
        let divided = divide(args, "e env env-file u user w workdir detach-keys", "", true);
        if let Some((container, command)) = divided.operands.split_first() {
            self.executes(Executed::Task("remote".to_owned(), container.text().to_owned()), container.span);
            self.inside(command, &[], call);
        }
        let facts = FactSet::of(&[FactKind::Deletes, FactKind::Reads, FactKind::Writes]);
        self.unknown(Why::OtherRoot, facts, call.span);
    }

    /// A command in a container: it runs, but not on files of this machine, other than those of its mounts.
    fn inside(&mut self, command: &[Arg], mounts: &[(String, String)], call: &Call<'_>) {
        let before = self.mute();
        let mut world = call.world.child();
        world.folder = Value::known("/");
        self.wrapped(call.name, command, call.span, world, call.input);
        let there = self.unmute(before);
        let used = there.reads.len() + there.writes.len() + there.deletes.len();
        if !self.affords(used.saturating_mul(mounts.len())) {
            return;
        }
        let lists = [(Use::Read, there.reads), (Use::Write, there.writes), (Use::Delete, there.deletes)];
        for (how, facts) in lists {
            for fact in facts {
                for (outside, inside) in mounts {
                    let path = fact.what.path.as_str();
                    let folder = path.strip_suffix("/**").or_else(|| path.strip_suffix("/*"));
                    let above = inside.strip_prefix(folder.unwrap_or(path).trim_end_matches('/'));
                    // What is above a mount goes with what is mounted there.
                    let is_above =
                        (how == Use::Delete || folder.is_some()) && above.is_some_and(|rest| rest.starts_with('/'));
                    match path.strip_prefix(inside.as_str()) {
                        Some(rest) => {
                            let value = Value::known(format!("{outside}{rest}"));
                            self.use_value(how, &value, fact.span, call.world);
                        }
                        None if is_above => {
                            let reach = if how == Use::Delete { Reach::Itself } else { Reach::Below };
                            self.use_value_with(how, reach, &Value::known(outside.as_str()), fact.span, call.world);
                        }
                        None => {}
                    }
                }
            }
        }
    }

    fn docker_copy(&mut self, args: &[Arg], call: &Call<'_>) {
        let divided = divide(args, "", "", false);
        let mut operands = divided.operands.iter();
        if let Some(source) = operands.next().filter(|source| !source.text().contains(':')) {
            self.use_value_with(Use::Read, Reach::Below, &source.value, source.span, call.world);
        }
        if let Some(target) = operands.next().filter(|target| !target.text().contains(':') && target.text() != "-") {
            self.use_value_with(Use::Write, Reach::Below, &target.value, target.span, call.world);
        }
    }

    pub(super) fn docker_compose(&mut self, name: &str, args: &[Arg], call: &Call<'_>) {
        let divided = divide(args, "f file p project-name env-file profile project-directory", "", true);
        for file in divided.values(&["f", "file", "env-file"]) {
            self.use_value(Use::Read, &file.value, file.span, call.world);
        }
        let action = divided.operands.first().map_or("", Arg::text);
        let behind = divided.operands.get(1..).unwrap_or_default();
        match (name, action) {
            ("compose", "run") => return self.docker_run(behind, call),
            ("compose", "exec") => return self.docker_exec(behind, call),
            _ => {}
        }
        if name == "compose"
            && matches!(
                action,
                "ps" | "logs"
                    | "config"
                    | "ls"
                    | "images"
                    | "top"
                    | "version"
                    | "stop"
                    | "down"
                    | "kill"
                    | "rm"
                    | "pause"
                    | ""
            )
        {
            return;
        }
        self.task("image", action, call.span);
        self.network(NetworkHost::Registry("docker".to_owned()), call.span);
        self.unknown(Why::Container, FactSet::EFFECTS, call.span);
    }
}

/// Returns the folder of this machine and that of the container: `/opt:/o:ro`, `type=bind,source=/opt,target=/o`.
fn mount(text: &str) -> Option<(String, String)> {
    if text.contains("target=") || text.contains("dst=") || text.contains("destination=") {
        let value = |names: &[&str]| {
            text.split(',')
                .filter_map(|part| part.split_once('='))
                .find(|(name, _)| names.contains(name))
                .map(|(_, value)| value.to_owned())
        };
        return Some((value(&["source", "src"])?, value(&["target", "dst", "destination"])?));
    }
    let mut parts = text.split(':');
    let (outside, inside) = (parts.next()?, parts.next()?);
    Some((outside.to_owned(), inside.trim_end_matches('/').to_owned()))
}
