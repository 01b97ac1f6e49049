#!/usr/bin/env bash
# Builds the site of the documents into target/site. Any warning of mdBook is a failure.
# usage: scripts/site.sh
#
# mdBook is installed into target/tools if it is not on the search path. That links and headings exist is checked by
# `cargo test -p hookrail-cli --test it documentation::links`; this script checks the links of the pages that were made.
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.5.4
tools=$PWD/target/tools
site=$PWD/target/site
blob=https://github.com/hookrail/hookrail/blob/main

PATH=$tools/bin:$PATH
if ! command -v mdbook >/dev/null; then
  cargo install mdbook --locked --version "$version" --root "$tools"
fi

rm -rf "$site"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
mdbook build 2>&1 | tee "$log"
if grep -qE 'WARN|ERROR' "$log"; then
  echo "site: mdbook reported warnings" >&2
  exit 1
fi

# Pages link to sources outside docs/, which the site does not have. On the site these links lead to the repository. The page
# README.md of a folder becomes index.html, and mdBook leaves the links to it as they are.
find "$site" -name '*.html' -print0 | xargs -0 sed -E -i \
  -e "s#href=\"(\.\./)+(schemas|crates|clients|packaging|examples|conformance)(/?[^\"]*)\"#href=\"$blob/\2\3\"#g" \
  -e "s#href=\"(\.\./)+(ARCHITECTURE|CHANGELOG|CONTRIBUTING|SECURITY)\.html#href=\"$blob/\2.md#g" \
  -e "s#(href=\"$blob/[^\"]*)/README\.html\"#\1/README.md\"#g" \
  -e 's#href="([^":]*)README\.html#href="\1index.html#g'

missing=0
while IFS= read -r -d '' page; do
  folder=$(dirname "$page")
  while IFS= read -r link; do
    target=${link%%#*}
    case $link in http://* | https://* | data:*) continue ;; esac
    file=${target:+$folder/$target}
    file=${file:-$page}
    case $link in *'#'*) anchor=${link#*#} ;; *) anchor= ;; esac
    if [ ! -e "$file" ] || { [ -n "$anchor" ] && ! grep -qF "id=\"$anchor\"" "$file"; }; then
      echo "site: ${page#"$site"/}: $link does not exist" >&2
      missing=1
    fi
  done < <(grep -oE 'href="[^"]*"' "$page" | sed -e 's/^href="//' -e 's/"$//' | sort -u)
done < <(find "$site" -name '*.html' ! -name 404.html ! -name print.html -print0)
[ "$missing" -eq 0 ]
echo "site: $(find "$site" -name '*.html' | wc -l) pages in target/site"
