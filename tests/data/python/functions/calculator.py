import operator
import re


def calculate(text: str) -> float:
    """Numbers, + - * / and brackets, with their usual order."""
    tokens = re.findall(r"\d+\.?\d*|[-+*/()]", text)

    def atom():
        token = tokens.pop(0)
        if token == "(":
            value = level(0)
            tokens.pop(0)
            return value
        return -atom() if token == "-" else float(token)

    operators = ({"+": operator.add, "-": operator.sub}, {"*": operator.mul, "/": operator.truediv})

    def level(n):
        if n == len(operators):
            return atom()
        value = level(n + 1)
        while tokens and tokens[0] in operators[n]:
            value = operators[n][tokens.pop(0)](value, level(n + 1))
        return value

    return level(0)


assert calculate("2 + 3 * (4 - 1) / 2") == 6.5
assert calculate("-(2 + 3)") == -5
