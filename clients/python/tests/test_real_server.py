"""Both clients against the real server, on pipes and on a socket."""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from typing import Any, Callable, List

from .support import BLOCKED, HANG, HERE, Case, program, wait_until

from hookrail_client import (
    AsyncClient,
    BusError,
    Client,
    Closed,
    InvalidAnswer,
    InvalidInput,
    NotGuarded,
    Options,
    RequestTooLarge,
    TimedOut,
)

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
OPTIONS = Options(timeout=HANG)


def tool(name: str, **extra: Any) -> dict[str, Any]:
    return {"tool_name": name, "tool_input": {"path": "a", **extra}}


#: A request and a response as a provider has them, with parts that no hook sees.
REQUEST = {
    "model": "m",
    "safetySettings": ["kept"],
    "contents": [
        {"role": "user", "parts": [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "AA"}}]},
        {"role": "model", "parts": [{"functionCall": {"id": "1", "name": "read", "args": {"path": "a"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "1", "name": "read", "response": {"output": "x"}}}]},
    ],
}
CALL = {"functionCall": {"id": "2", "name": "write", "args": {}}}
RESPONSE = {
    "responseId": "kept",
    "candidates": [{"content": {"role": "model", "parts": [{"text": "secret"}, CALL]}, "finishReason": "STOP"}],
}
MODEL_HOOKS = {
    "BeforeModel": """printf '{"hookSpecificOutput":{"hookEventName":"BeforeModel","llm_request":{"model":"other"}}}'""",
    "AfterModel": """printf '{"hookSpecificOutput":{"hookEventName":"AfterModel","llm_response":{"text":"redacted"}}}'""",
}


class RealServer(Case):
    def clients(self, project: Path) -> List[Client]:
        _server, path = self.serve(project)
        clients = [
            Client.spawn(program(self), "--trust-project", project=project, env=self.environment(), options=OPTIONS),
            Client.connect(path, OPTIONS),
        ]
        for client in clients:
            self.addCleanup(client.close)
        return clients

    def fails_with(self, code: str, ask: Callable[[], Any]) -> None:
        with self.assertRaises(BusError) as caught:
            ask()
        self.assertEqual(caught.exception.code, code)

    def test_a_host_gets_its_own_documents_with_the_changes_of_hooks(self) -> None:
        for client in self.clients(self.project(events=MODEL_HOOKS)):
            answer = client.execute("BeforeModel", {"llm_request": REQUEST})
            self.assertEqual(answer.model_request, {**REQUEST, "model": "other"})
            self.assertNotEqual(answer.model_request, answer.outcome["llmRequest"])
            answer = client.execute("AfterModel", {"llm_request": REQUEST, "llm_response": RESPONSE})
            response = answer.model_response
            assert response is not None
            self.assertEqual(response["responseId"], "kept")
            self.assertEqual(response["candidates"][0]["content"]["parts"], [{"text": "redacted"}, CALL])
            # A document in the neutral form has no other one.
            answer = client.execute(
                "BeforeModel", {"llm_request": {"model": "m", "messages": [{"role": "user", "content": "hi"}]}}
            )
            self.assertEqual(answer.model_request, answer.outcome["llmRequest"])
            assert answer.model_request is not None
            self.assertEqual(answer.model_request["model"], "other")
            self.assertIsNone(client.execute("BeforeTool", BLOCKED).model_request)

    def test_everything_in_both_ways(self) -> None:
        for client in self.clients(self.project()):
            welcome = client.hello()
            self.assertEqual(welcome.protocol, 1)
            self.assertIn("cancel", welcome.capabilities)
            client.ping()
            answer = client.execute("BeforeTool", BLOCKED, traceparent=TRACE)
            self.assertTrue(answer.is_denied and answer.denied and not answer.must_stop and not answer.may_proceed)
            self.assertEqual((answer.decision, answer.reason), ("deny", "no"))
            self.assertIs(answer.output["success"], False)
            answer = client.execute("PreToolUse", tool("write"), correlation_id="mine")
            self.assertEqual((answer.correlation_id, answer.tool_input), ("mine", {"path": "b"}))
            self.assertTrue(answer.may_proceed and answer.duration_ms > 0)
            answer = client.execute("BeforeTool", tool("asks"))
            self.assertTrue(answer.must_ask and not answer.may_proceed and not answer.is_denied)
            self.fails_with("unsupported_event", lambda: client.execute("Nonsense", {}))
            self.fails_with("invalid_request", lambda: client.execute("BeforeTool", {"tool_name": 1}))
            self.fails_with(
                "invalid_project", lambda: client.execute("BeforeTool", BLOCKED, project="/missing/project")
            )
            many = [client.submit("BeforeTool", BLOCKED) for _ in range(100)]
            self.assertTrue(all(future.result(HANG).is_denied for future in many))
            started = threading.Event()
            client.on_lifecycle(lambda news: started.set() if news.phase == "hook-started" else None)
            slow = client.submit("BeforeTool", tool("slow"), correlation_id="slow")
            self.assertTrue(started.wait(HANG))
            client.cancel("slow")
            self.fails_with("cancelled", lambda: slow.result(HANG))
            client.on_lifecycle(None)
            client.close()
            with self.assertRaises(Closed):
                client.ping()

    def test_a_response_is_neither_yes_nor_no(self) -> None:
        answer = self.clients(self.project())[0].execute("BeforeTool", BLOCKED)
        with self.assertRaises(TypeError):
            bool(answer)
        with self.assertRaises(TypeError):
            if answer:
                pass

    def test_a_request_that_is_too_long_fails_and_the_next_one_does_not(self) -> None:
        for client in self.clients(self.project()):
            for _ in range(2):
                with self.assertRaises(RequestTooLarge) as caught:
                    client.execute("BeforeTool", tool("blocked", content="x" * (17 * 1024 * 1024)))
                self.assertEqual(caught.exception.code, "line_too_long")
                self.assertTrue(client.execute("BeforeTool", BLOCKED).is_denied)

    def test_a_limit_that_only_the_server_knows(self) -> None:
        folder = Path(self.environment()["HOME"]) / ".config/hookrail"
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text("[bus]\nline-kib = 64\n")
        for client in self.clients(self.project()):
            # Nothing tells this client the limit, so the server skips the line.
            with self.assertRaises(RequestTooLarge):
                client.execute("BeforeTool", tool("blocked", content="x" * 100_000))
            self.assertTrue(client.execute("BeforeTool", BLOCKED).is_denied)
            self.assertEqual(client.hello().line_limit, 64 * 1024)
            with self.assertRaises(RequestTooLarge):
                client.execute("BeforeTool", tool("blocked", content="x" * 100_000))

    def test_a_large_answer_arrives_whole_or_fails_the_request(self) -> None:
        verbose = "head -c 6000000 /dev/zero | tr '\\0' x >&2; exit 2"
        for client in self.clients(self.project({"verbose": verbose})):
            self.assertTrue(client.execute("BeforeTool", tool("verbose")).is_denied)
            self.assertTrue(client.execute("BeforeTool", BLOCKED).is_denied)

    def test_an_answer_that_is_nested_deeply_does_not_end_the_reader(self) -> None:
        deep = (
            """printf '{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"path":'; """
            """head -c 5000 /dev/zero | tr '\\0' '['; head -c 5000 /dev/zero | tr '\\0' ']'; printf '}}}'"""
        )
        for client in self.clients(self.project({"deep": deep})):
            try:
                client.execute("BeforeTool", tool("deep"))
            except InvalidAnswer:
                pass  # Where the parser has a limit for nesting the request fails, and only this one.
            self.assertTrue(client.execute("BeforeTool", BLOCKED).is_denied)

    def test_input_without_a_json_form_is_refused_before_it_is_sent(self) -> None:
        loop: List[Any] = []
        loop.append(loop)
        deep: List[Any] = []
        for _ in range(200_000):
            deep = [deep]
        for client in self.clients(self.project()):
            for bad in (math.nan, math.inf, -math.inf, object(), {1, 2}, b"x", "\ud800", loop, deep):
                with self.assertRaises(InvalidInput):
                    client.execute("BeforeTool", tool("blocked", bad=bad))
            self.assertTrue(client.execute("BeforeTool", BLOCKED).is_denied)

    def test_a_listener_that_raises_is_reported_and_harms_nothing(self) -> None:
        project = self.project()
        _server, path = self.serve(project)
        seen: List[BaseException] = []
        options = Options(timeout=HANG, on_error=seen.append)
        for client in (
            Client.spawn(program(self), "--trust-project", project=project, env=self.environment(), options=options),
            Client.connect(path, options),
        ):
            with client:
                seen.clear()

                def listener(_news: object) -> None:
                    raise RuntimeError("a listener's fault")

                client.on_lifecycle(listener)
                self.assertTrue(client.execute("BeforeTool", BLOCKED).is_denied)
                wait_until(lambda: bool(seen))
                self.assertIsInstance(seen[0], RuntimeError)
                self.assertTrue(client.execute("BeforeTool", BLOCKED).is_denied)

    def test_a_listener_may_ask_and_may_close(self) -> None:
        for client in self.clients(self.project()):
            inner: List[Any] = []

            def listener(news: Any) -> None:
                if news.phase == "hook-ended" and not inner:
                    client.on_lifecycle(None)
                    inner.append(client.execute("BeforeTool", BLOCKED).is_denied)
                    client.close()
                    inner.append("closed")

            client.on_lifecycle(listener)
            self.assertTrue(client.execute("BeforeTool", BLOCKED).is_denied)
            wait_until(lambda: inner == [True, "closed"])

    def test_a_server_that_is_stopped_costs_no_more_than_the_deadline(self) -> None:
        server, path = self.serve(self.project())
        with Client.connect(path, Options(timeout=0.5, control_timeout=0.5)) as client:
            client.ping(timeout=HANG)
            self.stop(server)
            for ask in (
                lambda: client.execute("BeforeTool", BLOCKED),
                lambda: client.execute("BeforeTool", tool("blocked", content="x" * 3_000_000)),
                lambda: client.execute("BeforeTool", tool("blocked", content="x" * 3_000_000)),
                lambda: client.hello(),
                lambda: client.ping(),
                lambda: client.ping(timeout=0),
            ):
                with self.assertRaises(TimedOut):
                    ask()
            server.send_signal(18)  # SIGCONT
            self.assertTrue(client.execute("BeforeTool", BLOCKED, timeout=HANG).is_denied)

    def test_closing_a_server_of_its_own_that_is_stopped_ends(self) -> None:
        client = Client.spawn(
            program(self), project=self.project(), env=self.environment(), options=Options(control_timeout=0.5)
        )
        client.ping(timeout=HANG)
        connection = client._inner._connection
        assert connection is not None and connection._process is not None
        self.stop(connection._process)
        client.close()
        self.assertIsNotNone(connection._process.poll())

    def test_a_timeout_cancels_the_hooks(self) -> None:
        project = self.project()
        for client in self.clients(project):
            timeout = 0.5
            while not (project / "pid").exists():  # until the deadline is long enough for the hook to start
                timeout *= 2
                with self.assertRaises(TimedOut):
                    client.execute("BeforeTool", tool("slow"), timeout=timeout)
            hook = int((project / "pid").read_text())
            (project / "pid").unlink()
            wait_until(lambda: not Path(f"/proc/{hook}").exists())
            self.assertTrue(client.execute("BeforeTool", BLOCKED).is_denied)

    def test_a_server_that_dies_fails_what_waits_and_a_new_one_is_found(self) -> None:
        project = self.project()
        server, path = self.serve(project)
        with Client.connect(path, OPTIONS) as client:
            waiting = [client.submit("BeforeTool", tool("slow")) for _ in range(5)]
            wait_until(lambda: (project / "pid").exists())
            server.kill()
            for future in waiting:
                self.assertIsInstance(future.exception(HANG), Closed)
            server.wait()
            _server, again = self.serve(project)
            self.assertEqual(path, again)
            self.assertTrue(client.execute("BeforeTool", BLOCKED).is_denied)

    def test_a_server_of_its_own_that_dies_is_started_again(self) -> None:
        project = self.project()
        client = Client.spawn(
            program(self), "--trust-project", project=project, env=self.environment(), options=OPTIONS
        )
        with client:
            seen: List[str] = []
            client.on_lifecycle(lambda news: seen.append(news.phase))
            slow = client.submit("BeforeTool", tool("slow"))
            wait_until(lambda: (project / "pid").exists())
            connection = client._inner._connection
            assert connection is not None and connection._process is not None
            connection._process.kill()
            self.assertIsInstance(slow.exception(HANG), Closed)
            seen.clear()
            self.assertTrue(client.execute("BeforeTool", BLOCKED).is_denied)
            wait_until(lambda: "hook-ended" in seen)  # the new server was asked for reports too

    def test_a_server_that_cannot_start_says_so(self) -> None:
        options = Options(timeout=HANG, reconnect=False)
        client = Client.spawn(program(self), project="/missing/project", env=self.environment(), options=options)
        with client, self.assertRaises(NotGuarded):
            client.execute("BeforeTool", BLOCKED)
            client.execute("BeforeTool", BLOCKED)

    @unittest.skipUnless(hasattr(os, "fork"), "fork is missing")
    def test_a_forked_process_is_told_that_the_client_is_not_its_own(self) -> None:
        client = self.clients(self.project())[1]
        child = os.fork()
        if child == 0:
            try:
                client.execute("BeforeTool", BLOCKED)
            except Closed:
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(client.execute("BeforeTool", BLOCKED).is_denied)

    def test_a_program_that_forgets_to_close_still_ends(self) -> None:
        project = self.project()
        text = (
            "import sys, hookrail_client as h\n"
            "hooks = h.Client.spawn(sys.argv[1], '--trust-project', project='.')\n"
            "print(hooks.execute('BeforeTool', {'tool_name': 'blocked', 'tool_input': {}}).decision)\n"
        )
        env = {**self.environment(), "PYTHONPATH": str(HERE / "src")}
        command = [sys.executable, "-c", text, program(self)]
        ran = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, timeout=HANG)
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "deny\n", ""))


class RealServerWithAsyncio(Case):
    def test_everything_in_both_ways(self) -> None:
        project = self.project()
        _server, path = self.serve(project)

        async def both() -> None:
            for way in (
                AsyncClient.spawn(
                    program(self), "--trust-project", project=project, env=self.environment(), options=OPTIONS
                ),
                AsyncClient.connect(path, OPTIONS),
            ):
                async with await way as client:
                    await self.one(client)
                with self.assertRaises(Closed):
                    await client.ping()

        asyncio.run(both())

    async def one(self, client: AsyncClient) -> None:
        self.assertEqual((await client.hello()).protocol, 1)
        await client.ping()
        many = await asyncio.gather(*(client.execute("BeforeTool", BLOCKED) for _ in range(100)))
        self.assertTrue(all(answer.is_denied for answer in many))
        started = asyncio.Event()
        client.on_lifecycle(lambda news: started.set() if news.phase == "hook-started" else None)
        slow = asyncio.ensure_future(client.execute("BeforeTool", tool("slow"), correlation_id="slow"))
        await asyncio.wait_for(started.wait(), HANG)
        client.cancel("slow")
        with self.assertRaises(BusError) as caught:
            await slow
        self.assertEqual(caught.exception.code, "cancelled")
        started.clear()
        slow = asyncio.ensure_future(client.execute("BeforeTool", tool("slow")))
        await asyncio.wait_for(started.wait(), HANG)
        slow.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await slow
        with self.assertRaises(InvalidInput):
            await client.execute("BeforeTool", tool("blocked", bad=math.nan))
        with self.assertRaises(RequestTooLarge):
            await client.execute("BeforeTool", tool("blocked", bad="x" * (17 * 1024 * 1024)))
        with self.assertRaises(TimedOut):
            await client.execute("BeforeTool", tool("slow"), timeout=0.2)
        self.assertTrue((await client.execute("BeforeTool", BLOCKED)).is_denied)
