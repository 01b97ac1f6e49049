#!/bin/sh
# The document names the script and shows its answer.
if grep -q '"[^"]*path": *"/etc/'; then cat "$HOME/.llxprt/hooks/block.json"; fi
