#!/usr/bin/env bash
# Runs every command row of the misbehaviour table against hookrail and against @google/gemini-cli-core, under the same
# settings, and writes docs/evidence/peer.md and docs/evidence/peer.json. It needs cargo, node 20 and the npm
# registry; the package is installed into an ignored folder. With an argument, only the faults whose name contains it are
# run, and the results are printed instead of written.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

for program in cargo node npm; do
  command -v "$program" >/dev/null || { echo "$program is needed and was not found" >&2; exit 1; }
done

cd "$here"
npm install --no-audit --no-fund --ignore-scripts --no-package-lock --silent

# A folder with hookrail, hookrail-child and hookrail-measure that were built before can be given instead, by its whole
# path: everything runs in folders of its own.
if [ -z "${HOOKRAIL_BIN:-}" ]; then
  cd "$root"
  cargo build --quiet --profile dist --locked -p hookrail-cli -p hookrail-testkit --bins
  HOOKRAIL_BIN=$(cd "${CARGO_TARGET_DIR:-target}/dist" && pwd)
fi
export HOOKRAIL_BIN

node "$here/run.mjs" "$@"
