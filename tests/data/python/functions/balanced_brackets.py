def is_balanced(text: str) -> bool:
    """True if every bracket in text is closed by its like, in order."""
    pairs, stack = {")": "(", "]": "[", "}": "{"}, []
    for c in text:
        if c in "([{":
            stack.append(c)
        elif c in pairs and (not stack or stack.pop() != pairs[c]):
            return False
    return not stack


assert is_balanced("a(b[c]{d})")
assert not is_balanced("(]")
assert not is_balanced("((")
