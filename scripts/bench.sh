#!/bin/sh
# Measures everything and rewrites docs/evidence/performance.md; about ten minutes on a machine with two cores.
# With --redraw nothing is measured: the page is made anew from the raw data. Other options go to `hookrail-bench run`.
set -eu
cd "$(dirname "$0")/.."
data=docs/evidence/performance.json
cargo build --profile dist --locked -p hookrail-cli -p hookrail-bench --bins
bench() { cargo run --quiet --profile dist --locked -p hookrail-bench -- "$@"; }
if [ "${1:-}" != --redraw ]; then
  bench run --json "$data" "$@"
fi
bench table "$data" --into docs/evidence/performance.md
