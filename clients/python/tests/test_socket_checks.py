"""A socket is used only if no other user can be behind it."""

from __future__ import annotations

import os
import socket
import sys
import time
import unittest

from .support import BLOCKED, Case, Peer, wait_until

from hookrail_client import Client, ConnectFailed, UntrustedSocket


def answers(peer: Peer) -> None:
    while True:
        peer.answer(peer.payload()["correlationId"], "deny")


class SocketChecks(Case):
    def refused(self, path: str, fix: str = "") -> None:
        with self.assertRaises(UntrustedSocket) as caught:
            Client.connect(path)
        self.assertIn(fix, str(caught.exception))

    def accepted(self, path: str) -> None:
        with Client.connect(path) as client:
            self.assertTrue(client.execute("BeforeTool", BLOCKED).is_denied)

    def test_no_server(self) -> None:
        file = self.base / "file"
        file.write_text("")
        stale = self.base / "stale"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(stale))
        stale.chmod(0o600)
        for path in (self.base / "missing", file, stale, self.base / ("x" * 200), self.base / "missing/s"):
            with self.assertRaises(ConnectFailed) as caught:
                Client.connect(path)
            self.assertNotIsInstance(caught.exception, UntrustedSocket)
            self.assertIn(str(path), str(caught.exception))

    def test_the_mode_of_the_socket(self) -> None:
        path = self.fake(answers)
        self.accepted(path)
        for mode in (0o620, 0o602, 0o666, 0o777):
            os.chmod(path, mode)
            self.refused(path, f"chmod 600 {path}")

    def test_the_mode_of_the_folder(self) -> None:
        path = self.fake(answers)
        for mode in (0o777, 0o730, 0o703):
            self.base.chmod(mode)
            self.refused(path, f"chmod go-w {self.base}")
        for mode in (0o1777, 0o755, 0o700):  # in a sticky folder only the owner can replace a file
            self.base.chmod(mode)
            self.accepted(path)

    def test_a_link_is_judged_by_both_of_its_ends(self) -> None:
        path = self.fake(answers)
        links = self.base / "links"
        links.mkdir(mode=0o700)
        link = links / "s"
        link.symlink_to(path)
        self.accepted(str(link))
        links.chmod(0o777)
        self.refused(str(link))

    @unittest.skipUnless(os.geteuid() == 0, "only root can pass for another user")
    def test_another_owner_of_the_socket_or_its_folder(self) -> None:
        path = self.fake(answers)
        os.chown(path, 65534, 65534)
        self.refused(path, "65534")
        os.chown(path, 0, 0)
        os.chown(self.base, 65534, 65534)
        self.refused(path, "65534")

    @unittest.skipUnless(sys.platform == "linux" and os.geteuid() == 0, "only root can pass for another user")
    def test_another_user_behind_a_socket_of_this_user(self) -> None:
        path = str(self.base / "s")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        os.chmod(path, 0o600)
        child = os.fork()
        if child == 0:
            os.setgid(65534)
            os.setuid(65534)
            listener.listen()
            time.sleep(600)
        try:

            def listens() -> bool:
                with socket.socket(socket.AF_UNIX) as probe:
                    return probe.connect_ex(path) == 0

            wait_until(listens)
            self.refused(path, "runs as user 65534")
        finally:
            os.kill(child, 9)
            os.waitpid(child, 0)
            listener.close()
