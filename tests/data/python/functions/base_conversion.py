def to_base(n: int, base: int) -> str:
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    out = ""
    while True:
        n, digit = divmod(n, base)
        out = digits[digit] + out
        if n == 0:
            return out


assert to_base(255, 16) == "ff"
assert to_base(0, 2) == "0"
assert all(int(to_base(n, b), b) == n for n in range(200) for b in range(2, 37))
