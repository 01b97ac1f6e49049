#!/usr/bin/env bash
# All tests of the inspector in a real browser, and the pictures of docs/pictures/inspect-*.png.
# usage: scripts/inspect.sh [NAME OF A TEST]
#
# Continuous integration runs the same tests without writing pictures. This script needs chromium and chromedriver; on
# Debian these are the packages chromium and chromium-driver.
set -euo pipefail
cd "$(dirname "$0")/.."

for program in chromium chromedriver; do
  command -v "$program" >/dev/null || { echo "$program is missing" >&2; exit 1; }
done

HOOKRAIL_REQUIRE_ALL=1 HOOKRAIL_BLESS=1 cargo test -p hookrail-inspect --test it --locked -- --include-ignored --nocapture "$@"
# A third of the size, if the program is there.
if command -v pngquant >/dev/null; then
  pngquant --force --ext .png 64 docs/pictures/inspect-*.png
fi
ls -l docs/pictures/inspect-*.png
