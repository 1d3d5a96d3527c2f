from collections import OrderedDict


class Cache:
    """Keeps what was used last."""

    def __init__(self, size):
        self.size, self.items = size, OrderedDict()

    def get(self, key, default=None):
        if key not in self.items:
            return default
        self.items.move_to_end(key)
        return self.items[key]

    def put(self, key, value):
        self.items[key] = value
        self.items.move_to_end(key)
        if len(self.items) > self.size:
            self.items.popitem(last=False)


cache = Cache(2)
cache.put("a", 1)
cache.put("b", 2)
cache.get("a")
cache.put("c", 3)
assert cache.get("b") is None and cache.get("a") == 1 and cache.get("c") == 3
