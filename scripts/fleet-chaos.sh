#!/usr/bin/env bash
# Breaks a fleet on this machine and looks whether anything is lost: three servers whose leader is killed 30 times while 100,000 records
# or more are shipped, and 20 times while two publishers compete; servers and workers that are killed while hooks ask; servers that do not
# answer; a shipper that is killed again and again; 1,000 machines that receive bundles, 50 of them processes with folders of their own.
# Takes about 20 minutes. The results are the lines that begin with `chaos:`; docs/how-to/fleet.md has those of one run.
#   scripts/fleet-chaos.sh [NAME]     only the tests whose names contain NAME
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/nats-server.sh >/dev/null
ulimit -n "$(ulimit -Hn)"
export HOOKRAIL_REQUIRE_ALL=1
cargo build -p hookrail-cli --features fleet
export HOOKRAIL_PROGRAM="$(realpath "${CARGO_TARGET_DIR:-target}")/debug/hookrail"
# One after the other: they measure, and share the machine.
cargo test -p hookrail-fleet --test it nats:: -- --ignored --nocapture --test-threads=1 "$@"
cargo test -p hookrail-cli --features fleet --test it ask:: -- --ignored --nocapture --test-threads=1 "$@"
cargo test -p hookrail-cli --features fleet --test it fleet:: -- --ignored --nocapture --test-threads=1 "$@"
