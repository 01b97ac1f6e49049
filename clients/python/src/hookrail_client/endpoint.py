"""The two ways to reach a server: a socket, after a check of its owner, and a process that the client starts."""

from __future__ import annotations

import os
import socket
import stat
import struct
import subprocess
import sys
from typing import Mapping, Optional, Sequence

from .errors import ConnectFailed, ProgramMissing, UntrustedSocket


def check_socket(path: str) -> None:
    """Raises `UntrustedSocket` unless only this user (or root) can be behind the path.

    Both the socket and its folder count: a user who can write to the folder can put another socket there.
    """
    user = os.geteuid()
    try:
        found = os.stat(path)
        folders = {os.path.dirname(os.path.abspath(path)), os.path.dirname(os.path.realpath(path))}
        looked_at = [(folder, os.stat(folder)) for folder in sorted(folders)]
    except (OSError, ValueError) as error:
        raise ConnectFailed(
            f"cannot connect to {path}: {_why(error)}; is `hookrail serve --socket` running?"
        ) from error
    if not stat.S_ISSOCK(found.st_mode):
        raise ConnectFailed(f"cannot connect to {path}: it is not a socket")
    if found.st_uid not in (user, 0):
        raise UntrustedSocket(f"{path} belongs to user {found.st_uid}, not to this user ({user})")
    if found.st_mode & 0o022:
        raise UntrustedSocket(f"{path} is open to other users; run: chmod 600 {path}")
    for folder, seen in looked_at:
        if seen.st_uid not in (user, 0):
            raise UntrustedSocket(f"{folder} belongs to user {seen.st_uid}, who could replace the socket")
        if seen.st_mode & 0o022 and not seen.st_mode & stat.S_ISVTX:
            raise UntrustedSocket(f"other users could replace the socket; run: chmod go-w {folder}")


def check_peer(connection: socket.socket) -> None:
    """Raises `UntrustedSocket` unless this user's process, or root's, began to listen. Only Linux reports the user.

    A service manager of the system listens as root for a server that it starts as this user.
    """
    if sys.platform != "linux":
        return
    size = struct.calcsize("3i")
    _process, peer, _group = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    if peer not in (os.geteuid(), 0):
        raise UntrustedSocket(f"the server behind the socket runs as user {peer}, not as this user ({os.geteuid()})")


def connect_failed(path: str, error: Exception) -> ConnectFailed:
    """The error for a socket that does not take a connection."""
    return ConnectFailed(f"cannot connect to {path}: {_why(error)}; is `hookrail serve --socket` running?")


def start(command: Sequence[str], env: Optional[Mapping[str, str]]) -> "subprocess.Popen[bytes]":
    """Starts a server on pipes."""
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, bufsize=0)
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        raise ProgramMissing(
            f"the program {command[0]!r} cannot be started: {_why(error)}; install hookrail so that it is on PATH "
            "(cargo install --path crates/hookrail-cli), or pass the path of the program"
        ) from error
    except (OSError, ValueError) as error:
        raise ConnectFailed(f"the program {command[0]!r} cannot be started: {_why(error)}") from error


def end(process: "subprocess.Popen[bytes]", patience: float) -> None:
    """Waits for the end of a server whose input was closed; one that does not end is ended.

    The first SIGTERM lets running hooks finish and the second ends them; SIGKILL would leave them behind.
    """
    for insist in (process.terminate, process.terminate, process.kill):
        try:
            process.wait(patience)
            return
        except subprocess.TimeoutExpired:
            insist()
            patience = 1.0
    process.wait()


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
