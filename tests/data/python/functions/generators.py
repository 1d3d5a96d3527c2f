from itertools import islice


def hamming():
    """Numbers whose only prime factors are 2, 3 and 5."""
    import heapq
    heap, seen = [1], {1}
    while True:
        n = heapq.heappop(heap)
        yield n
        for factor in (2, 3, 5):
            if n * factor not in seen:
                seen.add(n * factor)
                heapq.heappush(heap, n * factor)


assert list(islice(hamming(), 10)) == [1, 2, 3, 4, 5, 6, 8, 9, 10, 12]
