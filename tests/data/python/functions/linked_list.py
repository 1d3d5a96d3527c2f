class Node:
    def __init__(self, value, next=None):
        self.value, self.next = value, next


def reverse(node):
    """The list turned round, in place."""
    before = None
    while node:
        node.next, before, node = before, node, node.next
    return before


def values(node):
    while node:
        yield node.value
        node = node.next


assert list(values(reverse(Node(1, Node(2, Node(3)))))) == [3, 2, 1]
assert reverse(None) is None
