#!/bin/sh
# Draws docs/pictures/ anew: runs the real binary on a pseudo-terminal and writes what it shows as SVG.
set -eu
cd "$(dirname "$0")/.."
HOOKRAIL_BLESS=1 HOOKRAIL_REDRAW=1 cargo test --quiet --locked -p hookrail-cli --test it cli::recording::
