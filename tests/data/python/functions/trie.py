class Trie:
    def __init__(self):
        self.root = {}

    def add(self, word):
        node = self.root
        for letter in word:
            node = node.setdefault(letter, {})
        node[""] = True

    def starting_with(self, prefix):
        node = self.root
        for letter in prefix:
            node = node.get(letter, {})
        stack = [(prefix, node)]
        while stack:
            word, node = stack.pop()
            for letter, child in node.items():
                if letter:
                    stack.append((word + letter, child))
                else:
                    yield word


trie = Trie()
for word in ("car", "card", "care", "dog"):
    trie.add(word)
assert sorted(trie.starting_with("car")) == ["car", "card", "care"]
assert list(trie.starting_with("x")) == []
