def fizzbuzz(n: int) -> list[str]:
    """The numbers 1 to n, with Fizz for threes, Buzz for fives and FizzBuzz for both."""
    return ["Fizz" * (i % 3 == 0) + "Buzz" * (i % 5 == 0) or str(i) for i in range(1, n + 1)]


assert fizzbuzz(5) == ["1", "2", "Fizz", "4", "Buzz"]
assert fizzbuzz(15)[-1] == "FizzBuzz"
assert fizzbuzz(0) == []
