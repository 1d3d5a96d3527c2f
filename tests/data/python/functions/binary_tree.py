from dataclasses import dataclass


@dataclass
class Tree:
    value: int
    left: "Tree | None" = None
    right: "Tree | None" = None

    def insert(self, value):
        side = "left" if value < self.value else "right"
        child = getattr(self, side)
        if child:
            child.insert(value)
        else:
            setattr(self, side, Tree(value))

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from self.right


tree = Tree(5)
for n in (3, 8, 1, 4, 9):
    tree.insert(n)
assert list(tree) == [1, 3, 4, 5, 8, 9]
assert tree.left == Tree(3, Tree(1), Tree(4))
