def ways(amount: int, coins: list[int]) -> int:
    """In how many ways an amount can be paid."""
    count = [1] + [0] * amount
    for coin in coins:
        for a in range(coin, amount + 1):
            count[a] += count[a - coin]
    return count[amount]


assert ways(100, [1, 5, 10, 25, 50]) == 292
assert ways(3, [2]) == 0
