def primes_below(n: int) -> list[int]:
    """All primes smaller than n, by the sieve."""
    sieve = bytearray([1]) * max(n, 2)
    sieve[0:2] = b"\0\0"
    for i in range(2, int(n**0.5) + 1):
        if sieve[i]:
            sieve[i * i::i] = bytes(len(range(i * i, len(sieve), i)))
    return [i for i in range(n) if sieve[i]]


assert primes_below(20) == [2, 3, 5, 7, 11, 13, 17, 19]
assert primes_below(2) == []
assert len(primes_below(1000)) == 168
