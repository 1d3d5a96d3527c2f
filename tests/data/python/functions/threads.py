import threading
from concurrent.futures import ThreadPoolExecutor


def count_up(n: int) -> int:
    lock, total = threading.Lock(), 0

    def add(amount):
        nonlocal total
        with lock:
            total += amount

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(n)))
    return total


assert count_up(100) == 4950
