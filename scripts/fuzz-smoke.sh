#!/usr/bin/env bash
# Runs every fuzz target for a while. A crash is kept in fuzz/artifacts and ends the script with an error.
# usage: scripts/fuzz-smoke.sh [SECONDS_PER_TARGET [TARGET...]]
#
# It needs no nightly toolchain: what is fuzzed is safe Rust, so it is built without a sanitizer, and RUSTC_BOOTSTRAP lets a
# stable compiler take the flags of cargo-fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(settings manifest hook_output module_result bus_line matcher shell_line rules)

export RUSTC_BOOTSTRAP=1
command -v cargo-fuzz >/dev/null 2>&1 || cargo install cargo-fuzz --version 0.13.2 --locked --quiet
python3 fuzz/seeds.py

for target in "${targets[@]}"; do
  printf '\n== %s for %s s\n' "$target" "$seconds"
  cargo fuzz run --sanitizer none "$target" -- \
    -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 -verbosity=0
done
