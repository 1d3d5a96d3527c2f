import re
import unicodedata


def slug(title: str) -> str:
    """A title as a part of an address."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


assert slug("Crème Brûlée: 10 Tips!") == "creme-brulee-10-tips"
assert slug("  ") == ""
