"""A typical program of a user. It is not run: 'make lint' checks its types with mypy and pyright in strict mode."""

import asyncio
from typing import Dict, List, Optional

from glovebox import (AsyncGlovebox, Display, Execution, ExecutionResult, Glovebox, Output, RunResult, SessionInfo,
                      ToolRegistry, create_executor)

tools = ToolRegistry()


@tools.tool
def add(a: int, b: int) -> int:
    return a + b


@tools.tool(name="other", requires_approval=True)
async def later(text: str) -> str:
    return text


total: int = add(1, 2)


def main() -> None:
    with Glovebox(settings={"agent.enabled": True}, decides=["executor"], limits={"timeout_ms": 5}) as box:
        result: RunResult = box.run("1", language="python", timeout_ms=100, files={"a": b"x"}, check=True)
        files: Dict[str, bytes] = result.files
        pictures: List[Optional[bytes]] = [display._repr_png_() for display in result.displays]
        run: Execution = box.start_code("1", globals={"f": add}, report=print)
        for event in run:
            if isinstance(event, Output):
                print(event.text, event.stream)
            elif isinstance(event, Display):
                print(event["image/png"])
        with box.open_session(language="python") as session:
            info: SessionInfo = session.info()
        answer: ExecutionResult = create_executor({"code_timeout": 5}, tools, box).execute("return 1")
        print(files, pictures, info, answer.error)


async def asynchronous() -> None:
    async with AsyncGlovebox() as box:
        result: RunResult = await box.run("1", language="python")
        direct: RunResult = await box.start("1")
        answer: ExecutionResult = await create_executor({}, tools, box).execute("return 1")
        async with await box.open_session() as session:
            print(await session.execute("1"), result, direct, answer)


if __name__ == "__main__":
    main()
    asyncio.run(asynchronous())
