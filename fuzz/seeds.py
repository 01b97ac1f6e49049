"""Fills fuzz/corpus with small seeds from the conformance data, so that a fuzzer begins with input that means something."""

import hashlib
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / "fuzz" / "corpus"

BUS_LINES = [
    {"type": "HOOK_EXECUTION_REQUEST", "payload": {"correlationId": "c", "eventName": "BeforeTool", "project": "/p",
     "input": {"session_id": "s", "tool_name": "write_file", "tool_input": {"path": "a"}}, "wait": "all",
     "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}},
    {"type": "hello", "payload": {"protocol": 1, "client": "seed"}},
    {"type": "cancel", "payload": {"correlationId": "c"}},
    {"type": "notify", "payload": {"lifecycle": True}},
    {"type": "ping"},
    {"type": "HOOK_EXECUTION_RESPONSE", "payload": {"correlationId": "c", "success": False, "queueMs": 1, "durationMs": 2,
     "error": {"code": "invalid_request", "message": "m"}}},
    {"type": "HOOK_EXECUTION_RESPONSE", "payload": {"correlationId": "c", "success": True, "queueMs": 0.5, "durationMs": 2,
     "output": {"success": True}, "outcome": {"decision": "deny", "reason": "r"}}},
    # Found by the fuzzer: a duration that was written did not read the same.
    {"type": "HOOK_EXECUTION_RESPONSE", "payload": {"correlationId": "c", "success": True,
     "durationMs": 7777777777777777777, "output": {}, "outcome": {}}},
]


def seed(target: str, content: bytes) -> None:
    if len(content) > 4096:
        return
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha256(content).hexdigest()[:16]).write_bytes(content)


def text(value) -> bytes:
    return (value if isinstance(value, str) else json.dumps(value)).encode()


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def matchers(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "matcher" and isinstance(inner, str):
                yield inner
            yield from matchers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from matchers(inner)


def main() -> None:
    for file in sorted((ROOT / "conformance").glob("*/*.json")):
        cases = json.loads(file.read_text())
        for number, case in enumerate(cases if isinstance(cases, list) else []):
            for layer in ("user", "project", "system"):
                if layer in case:
                    seed("settings", text(case[layer]))
            for name, content in case.get("files", {}).items():
                if name.endswith("plugin.json"):
                    seed("manifest", text(content))
            for pattern in matchers(case):
                seed("matcher", f"{pattern}\nwrite_file".encode())
            # What hooks print stands in their commands, between quotes.
            for string in strings(case):
                for answer in re.findall(r"'(\{.*?\})'", string):
                    seed("hook_output", bytes([number % 24, number % 160]) + answer.encode())
                for answer in re.findall(r"return (\{.*?\});", string):
                    seed("module_result", bytes([number % 24]) + re.sub(r"(\w+):", r'"\1":', answer).encode())
    for line in BUS_LINES:
        seed("bus_line", text(line))
    for rules in (ROOT / "crates/hookrail-app/src/rules/ready").glob("*.toml"):
        seed("rules", rules.read_bytes())
    for case in (ROOT / "crates/hookrail-shell/tests/it/corpus.jsonl").read_text().splitlines():
        if line := json.loads(case).get("line"):
            seed("shell_line", text(line))


main()
