import asyncio


async def pipeline(items: list[int]) -> list[int]:
    """Squares, made by several workers."""
    queue, done = asyncio.Queue(), []
    for item in items:
        queue.put_nowait(item)

    async def work():
        while not queue.empty():
            item = await queue.get()
            await asyncio.sleep(0)
            done.append(item * item)

    await asyncio.gather(*(work() for _ in range(3)))
    return sorted(done)


assert asyncio.run(pipeline([3, 1, 2])) == [1, 4, 9]
