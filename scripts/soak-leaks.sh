#!/usr/bin/env bash
# Shows that the checks of scripts/soak.sh can fail: short runs leave memory, a descriptor, a thread, a process or a file
# behind on purpose, and each of them must end with an error that names it. It takes some minutes.
# usage: scripts/soak-leaks.sh [COUNT]
set -euo pipefail
cd "$(dirname "$0")/.."
# So many that everything which is started once, when it is first needed, is there at the first look.
count=${1:-1000}
target=${CARGO_TARGET_DIR:-target}/dist/examples

cargo build --profile dist -p hookrail-bench --features measure --example spawn_soak --example fire_soak

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# Most of the time is waiting for idle threads, so all of them run at once.
try() {
  local program=$1 leak=$2 named=$3 said="$results/$1-$2"
  if "$target/$program" "$count" 1 "$leak" >"$said" 2>&1; then
    echo "NOT NOTICED: $program, $leak"
  elif grep -q "^\(Left behind: \)\?$named: .* at first, .* at last" "$said"; then
    echo "noticed: $program, $leak: $(sed -n '/^Left behind/,$p' "$said" | tr '\n' ' ')"
  else
    echo "NOT NOTICED: $program, $leak: it failed for another reason: $(tail -n 3 "$said")"
  fi >"$said.verdict"
}

for program in spawn_soak fire_soak; do
  try "$program" memory 'most resident memory' &
  try "$program" descriptor descriptors &
  try "$program" thread threads &
  try "$program" process processes &
  try "$program" file 'temporary files' &
done
wait
cat "$results"/*.verdict
! grep -q '^NOT NOTICED' "$results"/*.verdict
