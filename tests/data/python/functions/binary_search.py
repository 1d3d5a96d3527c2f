def find(sorted_list: list[int], wanted: int) -> int:
    """The index of wanted, or -1."""
    low, high = 0, len(sorted_list)
    while low < high:
        middle = (low + high) // 2
        if sorted_list[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < len(sorted_list) and sorted_list[low] == wanted else -1


assert find([1, 3, 5, 7], 5) == 2
assert find([1, 3, 5, 7], 4) == -1
assert find([], 1) == -1
