#!/usr/bin/env bash
# Kills three writers of one journal 200 times at random moments: nothing that was acknowledged may be lost, and the chain must
# hold. See docs/evidence/faults.md.
# usage: scripts/journal-killed.sh
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --locked -p hookrail-journal --test it nothing_acknowledged_is_lost_in_200_rounds -- --ignored --nocapture
