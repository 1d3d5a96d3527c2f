def is_palindrome(text: str) -> bool:
    """True if the letters and digits of text read the same both ways, whatever their case."""
    kept = [c.lower() for c in text if c.isalnum()]
    return kept == kept[::-1]


assert is_palindrome("A man, a plan, a canal: Panama")
assert not is_palindrome("glovebox")
assert is_palindrome("")
