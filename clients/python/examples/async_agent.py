"""An agent loop on `asyncio` that runs the tool calls of a turn side by side, each guarded by hooks.

python3 async_agent.py [--socket PATH | --program HOOKRAIL] [--project DIR] [--trust-project]
"""

from __future__ import annotations

import argparse
import asyncio
import uuid
from typing import Any, Mapping

from hookrail_client import AsyncClient, NotGuarded

TURN: "list[tuple[str, Mapping[str, Any]]]" = [
    ("read_file", {"path": "README.md"}),
    ("write_file", {"path": ".env", "content": "SECRET=1"}),
    ("write_file", {"path": "notes.txt", "content": "hello"}),
]


async def run_tool(name: str, arguments: Mapping[str, Any]) -> str:
    return f"{name} {arguments['path']}: done"


async def guarded(hooks: AsyncClient, session: str, name: str, arguments: Mapping[str, Any]) -> str:
    call = {"session_id": session, "tool_name": name, "tool_input": arguments}
    try:
        before = await hooks.execute("BeforeTool", call, timeout=60)
    except NotGuarded as error:
        # A guard that cannot be asked has not said yes.
        return f"not run: {error}"
    if not before.may_proceed:
        return f"blocked: {before.reason}"
    return await run_tool(name, arguments if before.tool_input is None else before.tool_input)


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--socket")
    parser.add_argument("--program", default="hookrail")
    parser.add_argument("--project", default=".")
    parser.add_argument("--trust-project", action="store_true")
    options = parser.parse_args()
    extra = ["--trust-project"] if options.trust_project else []
    client = await (
        AsyncClient.connect(options.socket)
        if options.socket
        else AsyncClient.spawn(options.program, *extra, project=options.project)
    )
    session = str(uuid.uuid4())
    async with client as hooks:
        await hooks.hello("async_agent.py")
        results = await asyncio.gather(*(guarded(hooks, session, name, arguments) for name, arguments in TURN))
    for (name, arguments), result in zip(TURN, results):
        print(f"{name} {arguments['path']} -> {result}")


if __name__ == "__main__":
    asyncio.run(main())
