#!/usr/bin/env python3
"""PreCompress: keeps a copy of the transcript before it is compressed, the ten latest of each project.

Copies go to $TRANSCRIPT_BACKUPS, else to `~/.llxprt/backups`.
"""
import hashlib
import json
import os
import shutil
import sys

MOST = 10

event = json.load(sys.stdin)
transcript = event["transcript_path"]
if not os.path.isfile(transcript):
    sys.exit(0)
folder = os.environ.get("TRANSCRIPT_BACKUPS") or os.path.join(os.path.expanduser("~"), ".llxprt", "backups")
folder = os.path.join(folder, hashlib.sha256(event["cwd"].encode()).hexdigest()[:16])
os.makedirs(folder, mode=0o700, exist_ok=True)
stamp = "".join(character if character.isalnum() else "-" for character in event["timestamp"])
target = os.path.join(folder, f"{stamp}-{os.path.basename(transcript)}")
shutil.copyfile(transcript, target)
os.chmod(target, 0o600)
for old in sorted(os.listdir(folder))[:-MOST]:
    os.remove(os.path.join(folder, old))
