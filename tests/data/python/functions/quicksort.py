def quicksort(items: list) -> list:
    if len(items) < 2:
        return list(items)
    pivot = items[len(items) // 2]
    return (quicksort([x for x in items if x < pivot]) + [x for x in items if x == pivot]
            + quicksort([x for x in items if x > pivot]))


import random
numbers = [random.randrange(1000) for _ in range(500)]
assert quicksort(numbers) == sorted(numbers)
assert quicksort([]) == []
