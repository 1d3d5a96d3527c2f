from heapq import heappop, heappush


def shortest(graph: dict[str, dict[str, int]], start: str, end: str) -> tuple[int, list[str]]:
    """Dijkstra's: the length of the shortest way, and the way."""
    heap, done = [(0, start, [start])], set()
    while heap:
        cost, node, way = heappop(heap)
        if node == end:
            return cost, way
        if node in done:
            continue
        done.add(node)
        for other, more in graph.get(node, {}).items():
            heappush(heap, (cost + more, other, way + [other]))
    return -1, []


graph = {"a": {"b": 7, "c": 3}, "c": {"b": 1, "d": 8}, "b": {"d": 2}}
assert shortest(graph, "a", "d") == (6, ["a", "c", "b", "d"])
assert shortest(graph, "d", "a") == (-1, [])
