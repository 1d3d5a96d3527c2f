import json


def paths(value, path="$"):
    """Where each leaf of a JSON value stands."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths(item, f"{path}.{key}")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from paths(item, f"{path}[{i}]")
    else:
        yield path, value


data = json.loads('{"a": [1, {"b": null}], "c": "x"}')
assert list(paths(data)) == [("$.a[0]", 1), ("$.a[1].b", None), ("$.c", "x")]
