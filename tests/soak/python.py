#!/usr/bin/python3
"""The Python SDK for a long time: GB_SOAK_RUNS runs (100,000) in one process, one after the other, from 200 threads and as 500
tasks at a time; memory stays flat, and no process, descriptor or thread is left. TAP. Needs GB_GLOVEBOX."""
import asyncio
import gc
import os
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "sdk/python"), str(ROOT / "tests/e2e")]
import tap
from glovebox import AsyncGlovebox, Glovebox

RUNS = int(os.environ.get("GB_SOAK_RUNS", "100000"))
THREADS, TASKS = 200, 500
PROGRAM = os.environ["GB_GLOVEBOX"]
SLACK = 8 << 20  # bytes that memory may grow after the first tenth


def resident(pid="self"):
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def processes():
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def check_flat(sizes, what):
    """The end against the first tenth, when caches are full."""
    early, late = max(sizes[: max(1, len(sizes) // 10)]), sizes[-1]
    print(f"# {what}: {early >> 20} MiB after a tenth, {late >> 20} MiB at the end")
    assert late - early < SLACK, f"{what} has grown from {early} to {late} bytes"


@tap.test(f"{RUNS} runs in one process: memory is flat")
def many():
    before = descriptors(), processes(), threading.active_count()
    with Glovebox(PROGRAM) as box:
        own, server = [], []
        for i in range(RUNS):
            if i % 4 == 3:
                assert box.run_code("export default f(20)", globals={"f": lambda x: x + 1}).result == 21
            else:
                assert box.run("export default 1+1").result == 2
            if i % max(1, RUNS // 100) == 0:
                gc.collect()
                own.append(resident())
                server.append(resident(box._connection._transport._process.pid))
        check_flat(own, "this process")
        check_flat(server, "the server")
    assert (descriptors(), processes(), len([thread for thread in threading.enumerate() if "callback" not in thread.name])) == before


@tap.test(f"{THREADS} threads at once, and nothing is left")
def threads():
    before, failures = (descriptors(), processes()), []

    def work(i):
        try:
            for k in range(10):
                assert box.run_code("export default f(n)", globals={"f": lambda x: x + 1, "n": i + k}).result == i + k + 1
        except BaseException as error:
            failures.append(repr(error))

    with Glovebox(PROGRAM) as box:
        running = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    assert not failures, failures[:3]
    assert (descriptors(), processes()) == before


@tap.test(f"{TASKS} tasks at once, and nothing is left")
def tasks():
    before = descriptors(), processes()

    async def main():
        async with AsyncGlovebox(PROGRAM) as box:
            async def work(i):
                for k in range(4):
                    result = await box.run_code("export default f(n)", globals={"f": lambda x: x + 1, "n": i + k})
                    assert result.result == i + k + 1

            await asyncio.gather(*(work(i) for i in range(TASKS)))

    asyncio.run(main())
    assert (descriptors(), processes()) == before


@tap.test("clients that are opened and closed, or dropped, leave nothing")
def clients():
    before = descriptors(), processes()
    for i in range(50):
        box = Glovebox(PROGRAM)
        box.run("1")
        if i % 2:
            box.close()
    del box
    gc.collect()
    for thread in threading.enumerate():
        if thread.name.startswith(("glovebox-reader", "glovebox-stderr")):
            thread.join(60)
    assert (descriptors(), processes()) == before


tap.plan()
sys.exit(1 if tap.failed else 0)
