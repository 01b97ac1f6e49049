"""The client against servers that do what a server must not do. No call hangs, and none ends in a permission."""

from __future__ import annotations

import os
import socket
import threading
import time
from concurrent.futures import Future
from typing import Any, List

from .support import BLOCKED, HANG, Case, Peer, wait_until

from hookrail_client import (
    AnswerTooLarge,
    BusError,
    Client,
    Closed,
    ConnectFailed,
    InvalidAnswer,
    InvalidInput,
    NotGuarded,
    Options,
    ProgramMissing,
    RequestTooLarge,
    Response,
    TimedOut,
    UntrustedSocket,
)


class MisbehavingServer(Case):
    def client(self, path: str, **options: Any) -> Client:
        client = Client.connect(path, Options(**{"timeout": HANG, "reconnect": False, **options}))
        self.addCleanup(client.close)
        return client

    def ask(self, client: Client, **arguments: Any) -> "Future[Response]":
        return client.submit("BeforeTool", BLOCKED, **arguments)

    def fails(self, future: "Future[Response]") -> NotGuarded:
        error = future.exception(HANG)
        self.assertIsInstance(error, NotGuarded)
        assert isinstance(error, NotGuarded)
        return error

    def test_an_error_under_a_made_up_name_fails_everything_that_waits(self) -> None:
        def behave(peer: Peer) -> None:
            first, second = peer.payload(), peer.payload()
            peer.refuse("made-up", "line_too_long")
            for late in (first, second, peer.payload()):  # late answers to failed requests are not answers
                peer.answer(late["correlationId"])
            peer.payload()

        client = self.client(self.fake(behave))
        for future in [self.ask(client), self.ask(client)]:
            self.assertIsInstance(self.fails(future), RequestTooLarge)
        self.assertTrue(self.ask(client).result(HANG).may_proceed)

    def test_the_late_error_of_a_request_that_was_given_up_fails_nothing_else(self) -> None:
        def behave(peer: Peer) -> None:
            first = peer.payload()
            self.assertEqual(peer.payload("cancel")["correlationId"], first["correlationId"])
            second = peer.payload()
            peer.refuse(first["correlationId"], "cancelled")
            peer.answer(second["correlationId"], "deny")
            peer.payload()

        client = self.client(self.fake(behave))
        self.assertIsInstance(self.fails(self.ask(client, timeout=0.2)), TimedOut)
        self.assertTrue(self.ask(client).result(HANG).is_denied)

    def test_every_kind_of_rubbish_is_a_typed_error(self) -> None:
        name = b'{"type":"HOOK_EXECUTION_RESPONSE","payload":{"correlationId":"me",'
        good = name + b'"success":true,"output":{},"outcome":{"decision":%s,"stop":false,"toolInput":null}}}'
        rubbish = {
            b"nonsense": InvalidAnswer,
            b"\xff\xfe\x00": InvalidAnswer,
            b"[]": InvalidAnswer,
            b"null": InvalidAnswer,
            b'{"type":1,"payload":{}}': InvalidAnswer,
            b'{"type":"HOOK_EXECUTION_RESPONSE"}': InvalidAnswer,
            b'{"type":"HOOK_EXECUTION_RESPONSE","payload":{}}': BusError,
            b"[" * 100_000: InvalidAnswer,
            name + b'"outcome":' + b"[" * 100_000: InvalidAnswer,
            name[:-1] + b"}}": BusError,
            name + b'"success":"true","output":{},"outcome":{"decision":null,"stop":false}}}': BusError,
            name + b'"success":true}}': InvalidAnswer,
            name + b'"success":true,"output":{},"outcome":{}}}': InvalidAnswer,
            name + b'"success":true,"output":{},"outcome":null}}': InvalidAnswer,
            name + b'"success":false,"error":5}}': BusError,
            name + b'"success":false,"output":{},"outcome":{"decision":"allow","stop":false}}}': BusError,
            good % b'"maybe"': InvalidAnswer,
            good % b"true": InvalidAnswer,
            good % b"[]": InvalidAnswer,
            good % b"NaN": InvalidAnswer,
            (good % b"null").replace(b'"stop":false', b'"stop":0'): InvalidAnswer,
            (good % b"null").replace(b'"toolInput":null', b'"toolInput":[]'): InvalidAnswer,
            (good % b"null").replace(b"HOOK_EXECUTION_RESPONSE", b"pong"): InvalidAnswer,
        }
        for line, kind in rubbish.items():
            with self.subTest(line[:90]):

                def behave(peer: Peer) -> None:
                    peer.payload()
                    peer.raw(line + b"\n")
                    peer.answer(peer.payload()["correlationId"], "deny")
                    peer.payload()

                client = self.client(self.fake(behave))
                self.assertIsInstance(self.fails(self.ask(client, correlation_id="me")), kind)
                # The line was read to its end, so the connection is as good as before.
                self.assertTrue(self.ask(client).result(HANG).is_denied)

    def test_rubbish_that_names_its_request_fails_no_other(self) -> None:
        def behave(peer: Peer) -> None:
            names = [peer.payload()["correlationId"] for _ in range(2)]
            peer.raw(b'{"type":"HOOK_EXECUTION_RESPONSE","payload":{"correlationId":"a",' + b"[" * 100_000 + b"\n")
            peer.answer("b")
            self.assertEqual(names, ["a", "b"])
            peer.payload()

        client = self.client(self.fake(behave))
        first, second = self.ask(client, correlation_id="a"), self.ask(client, correlation_id="b")
        self.assertIsInstance(self.fails(first), InvalidAnswer)
        self.assertTrue(second.result(HANG).may_proceed)

    def test_an_answer_over_the_limit_fails_its_request_and_is_skipped(self) -> None:
        def behave(peer: Peer) -> None:
            peer.answer(peer.payload()["correlationId"], None, reason="x" * 300_000)
            peer.answer(peer.payload()["correlationId"], None, reason="x" * 50_000)
            peer.payload()
            peer.raw(b"x" * 300_000 + b"\n")
            peer.payload()

        client = self.client(self.fake(behave), answer_limit=100_000)
        self.assertIsInstance(self.fails(self.ask(client)), AnswerTooLarge)
        self.assertEqual(len(self.ask(client).result(HANG).reason or ""), 50_000)
        self.assertIsInstance(self.fails(self.ask(client)), AnswerTooLarge)

    def test_half_an_answer_and_then_the_end(self) -> None:
        def behave(peer: Peer) -> None:
            peer.payload()
            peer.raw(b'{"type":"HOOK_EXECUTION_RESPONSE","payload":{"correlationId":"x","success":true')

        client = self.client(self.fake(behave))
        self.assertIsInstance(self.fails(self.ask(client)), Closed)
        self.assertIsInstance(self.fails(self.ask(client)), Closed)

    def test_half_an_answer_and_then_silence(self) -> None:
        def behave(peer: Peer) -> None:
            peer.payload()
            peer.raw(b'{"type":"HOOK_EXECUTION_RESPONSE","payload":{"correlationId":"x","success":true')
            peer.payload()

        client = self.client(self.fake(behave))
        self.assertIsInstance(self.fails(self.ask(client, timeout=0.3)), TimedOut)

    def test_a_server_that_never_reads_costs_no_more_than_the_deadline(self) -> None:
        done = threading.Event()
        self.addCleanup(done.set)
        client = self.client(self.fake(lambda _peer: done.wait(HANG)), control_timeout=0.3)
        large = {"tool_name": "x", "tool_input": {"content": "x" * 8_000_000}}
        for _ in range(3):
            with self.assertRaises(TimedOut):
                client.execute("BeforeTool", large, timeout=0.3)
        with self.assertRaises(TimedOut):
            client.ping()
        with self.assertRaises(TimedOut):
            client.hello()
        # Only the request whose sending had begun is still held.
        connection = client._inner._connection
        assert connection is not None
        self.assertLess(sum(map(len, connection._queue.values())), 1_000_000)

    def test_a_name_in_flight_is_refused(self) -> None:
        client = self.client(self.fake(lambda peer: peer.payload("never")))
        self.ask(client, correlation_id="twice")
        self.assertIsInstance(self.fails(self.ask(client, correlation_id="twice")), InvalidInput)

    def test_a_correlation_id_must_be_a_string(self) -> None:
        client = self.client(self.fake(lambda peer: peer.payload("never")))
        with self.assertRaises(InvalidInput):
            client.execute("BeforeTool", BLOCKED, correlation_id=5)  # type: ignore[arg-type]

    def test_a_server_that_turns_the_client_away_is_heard(self) -> None:
        seen: List[BaseException] = []
        client = self.client(self.fake(lambda peer: peer.refuse("made-up", "overloaded")), on_error=seen.append)
        wait_until(lambda: bool(seen))
        for _ in range(2):
            error = self.fails(self.ask(client))
            self.assertIsInstance(error, BusError)
            self.assertEqual(getattr(error, "code", None), "overloaded")

    def test_a_server_without_room_for_one_more_connection(self) -> None:
        path = str(self.base / "full")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            os.chmod(path, 0o600)
            listener.listen(0)
            waiting = []
            while True:
                waiting.append(socket.socket(socket.AF_UNIX))
                waiting[-1].setblocking(False)
                if waiting[-1].connect_ex(path) != 0:
                    break
            with self.assertRaises(ConnectFailed) as caught:
                Client.connect(path, Options(control_timeout=0.3))
            self.assertNotIsInstance(caught.exception, UntrustedSocket)
            for one in waiting:
                one.close()

    def test_answers_to_nothing_are_reported(self) -> None:
        seen: List[BaseException] = []

        def behave(peer: Peer) -> None:
            peer.answer("unknown-id")
            peer.raw(b"rubbish\n")
            peer.say("notify", {"phase": 5})
            peer.say("of-a-newer-server", {})
            peer.raw(b"\n  \n")
            peer.answer(peer.payload()["correlationId"], "deny")
            peer.payload()

        client = self.client(self.fake(behave), on_error=seen.append)
        wait_until(lambda: len(seen) == 3)
        self.assertTrue(client.execute("BeforeTool", BLOCKED).is_denied)
        self.assertTrue(all(isinstance(error, InvalidAnswer) for error in seen))

    def test_an_error_callback_that_raises_harms_nothing(self) -> None:
        def behave(peer: Peer) -> None:
            peer.answer("unknown-id")
            peer.answer(peer.payload()["correlationId"], "deny")
            peer.payload()

        def on_error(_error: BaseException) -> None:
            raise RuntimeError("again")

        with self.assertLogs("hookrail_client", "ERROR") as logs:
            client = self.client(self.fake(behave), on_error=on_error)
            wait_until(lambda: bool(logs.output))
            self.assertTrue(client.execute("BeforeTool", BLOCKED).is_denied)

    def test_a_lost_connection_is_made_again_with_pauses(self) -> None:
        connections: List[float] = []

        def behave(peer: Peer) -> None:
            connections.append(time.monotonic())
            if len(connections) > 5:
                peer.answer(peer.payload()["correlationId"], "deny")
                peer.payload()
            peer.payload()  # and then the end, without an answer

        client = self.client(self.fake(behave), reconnect=True)
        for _ in range(5):
            self.assertIsInstance(self.fails(self.ask(client)), Closed)
        self.assertTrue(self.ask(client).result(HANG).is_denied)
        # The pauses before the third to sixth connection are at least 25, 50, 100 and 200 ms.
        self.assertGreater(connections[5] - connections[1], 0.3)

    def test_a_server_that_stays_away_is_an_error_in_the_end(self) -> None:
        path = self.fake(lambda peer: None)
        client = self.client(path, reconnect=True, reconnect_timeout=0.5)
        self.fails(self.ask(client))
        os.unlink(path)
        self.assertIsInstance(self.fails(self.ask(client)), ConnectFailed)
        # A deadline that is shorter than the search for a server is kept too.
        client = self.client(self.fake(lambda peer: None), reconnect=True)
        os.unlink(max(self.base.glob("fake-*")))
        wait_until(lambda: isinstance(self.ask(client, timeout=0.3).exception(HANG), TimedOut))

    def test_a_client_without_reconnect_stays_closed(self) -> None:
        client = self.client(self.fake(lambda peer: None))
        self.assertIsInstance(self.fails(self.ask(client)), Closed)
        self.assertIsInstance(self.fails(self.ask(client)), Closed)


class MisbehavingProgram(Case):
    def script(self, text: str) -> str:
        path = self.base / "server"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def test_a_program_that_is_missing_is_named_with_the_fix(self) -> None:
        unusable = self.base / "unusable"
        unusable.write_text("")
        for missing in ("hookrail-that-is-not-installed", str(self.base / "nothing"), str(unusable)):
            with self.assertRaises(ProgramMissing) as caught:
                Client.spawn(missing)
            self.assertIn(missing, str(caught.exception))
            self.assertIn("PATH", str(caught.exception))

    def test_a_program_that_ends_at_once(self) -> None:
        with Client.spawn(self.script("exit 3"), options=Options(timeout=HANG, reconnect=False)) as client:
            with self.assertRaises(Closed):
                client.execute("BeforeTool", BLOCKED)

    def test_a_program_that_writes_rubbish(self) -> None:
        options = Options(timeout=HANG, reconnect=False)
        with Client.spawn(self.script("read line; echo rubbish; cat > /dev/null"), options=options) as client:
            with self.assertRaises(InvalidAnswer):
                client.execute("BeforeTool", BLOCKED)

    def test_a_program_that_reads_nothing(self) -> None:
        options = Options(timeout=0.3, control_timeout=0.3)
        with Client.spawn(self.script("exec sleep 600"), options=options) as client:
            with self.assertRaises(TimedOut):
                client.execute("BeforeTool", {"content": "x" * 3_000_000})
            with self.assertRaises(TimedOut):
                client.ping()

    def test_a_program_that_closes_its_output(self) -> None:
        options = Options(timeout=HANG, reconnect=False)
        with Client.spawn(self.script("exec >&-; exec sleep 600"), options=options) as client:
            with self.assertRaises(Closed):
                client.execute("BeforeTool", BLOCKED)
            connection = client._inner._connection
            assert connection is not None and connection._process is not None
            process = connection._process
        wait_until(lambda: process.poll() is not None)
