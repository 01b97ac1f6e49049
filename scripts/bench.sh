#!/bin/sh
# Measures everything and rewrites docs/performance.md and its picture; about ten minutes on a machine with two cores.
# With --redraw nothing is measured: the page and the picture are made anew from the raw data. Other options go to
# `hookrail-bench run`.
set -eu
cd "$(dirname "$0")/.."
data=docs/performance/results.json
# One by one, as the run itself asks for them: together they would be built with other features, and then once more.
cargo build --release --locked -p hookrail-cli --bin hookrail
cargo build --release --locked -p hookrail-bench --bin hookrail-bench-allocations
cargo build --release --locked -p hookrail-bench --bin hookrail-bench
bench() { cargo run --quiet --release --locked -p hookrail-bench -- "$@"; }
if [ "${1:-}" != --redraw ]; then
  bench run --json "$data" "$@"
fi
bench chart "$data" --into docs/performance/chart.svg
bench table "$data" --into docs/performance.md
