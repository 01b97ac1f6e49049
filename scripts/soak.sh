#!/usr/bin/env bash
# Fires 100,000 events at good and bad hooks of all dialects, and starts 100,000 children, in random mixtures; then nothing
# may be left of them. Writes docs/evidence/soak.md if that is so.
# usage: scripts/soak.sh [FIRES [CHILDREN [SEED]]]
#
# That the check can fail is shown by scripts/soak-leaks.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
fires=${1:-100000}
children=${2:-100000}
seed=${3:-1}
target=${CARGO_TARGET_DIR:-target}/dist/examples

cargo build --profile dist -p hookrail-bench --features measure --example spawn_soak --example fire_soak

page=$(mktemp)
trap 'rm -f "$page"' EXIT
{
  printf '# What a long run leaves behind\n\n'
  printf '<!-- Made by `scripts/soak.sh`; run it again instead of editing this file. -->\n\n'
  printf 'A random mixture of good and bad hooks for a long time, then a look at what the process holds. Every tenth of the way\n'
  printf 'everything that runs is waited for, idle threads included, and counted: processes that carry the mark of the run wherever\n'
  printf 'they have gone, zombies, descriptors, threads, files in the folder for temporary files, bytes of the heap that were asked\n'
  printf 'for and not given back (an allocator that counts), and resident memory. At the end there must be no process, zombie or\n'
  printf 'file, no more descriptors and threads than at the first look, at most 256 KiB more of the heap, and at most 8 MiB more\n'
  printf 'resident memory in the second half than in the first. `scripts/soak-leaks.sh` leaves one thing of each kind behind on\n'
  printf 'purpose, and the run fails.\n\n'
  printf 'Resident memory is there for what the counting allocator does not see, such as the memory of the JavaScript engine. The\n'
  printf 'allocator has its default settings. Before each look it is told once to give back what is free (`malloc_trim`), because\n'
  printf 'glibc otherwise keeps the room of large blocks in each of its heaps, and resident memory goes up and down by tens of MiB\n'
  printf 'while the heap stays flat. `hookrail serve` does the same whenever no request is left.\n\n'
  printf 'Release build, %s, %s, %s processors that were shared with other work.\n' "$(uname -s) $(uname -r | cut -d. -f1,2)" "$(uname -m)" "$(nproc)"
  printf '\n## Fires\n\n'
  printf 'Command hooks that answer, deny, rewrite, fail, print nonsense or 10 MB, kill themselves, are missing, are too slow, ignore\n'
  printf 'SIGTERM or leave their session; plugins that answer, fail and are too slow; a module that answers, throws, starts processes,\n'
  printf 'loops and hoards memory. Every fiftieth fire is dropped by its host in the middle.\n\n'
} >"$page"
nice "$target/fire_soak" "$fires" "$seed" | tee /dev/stderr >>"$page"
printf '\n## Children\n\n`hookrail-spawn` alone: also children that are cancelled, and runs whose future is dropped.\n\n' >>"$page"
nice "$target/spawn_soak" "$children" "$seed" | tee /dev/stderr >>"$page"
mkdir -p docs/evidence
cp "$page" docs/evidence/soak.md
