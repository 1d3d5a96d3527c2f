from urllib.parse import parse_qs, urlencode, urlsplit


def query_of(url: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(url).query)


assert query_of("https://example.org/p?a=1&b=x%20y&a=2") == {"a": ["1", "2"], "b": ["x y"]}
assert urlencode({"q": "ä b"}) == "q=%C3%A4+b"
