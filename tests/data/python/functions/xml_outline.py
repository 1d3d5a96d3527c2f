import xml.etree.ElementTree as ET


def outline(text: str) -> list[str]:
    """The tags, each as deep as it stands."""
    def walk(node, depth):
        yield "  " * depth + node.tag
        for child in node:
            yield from walk(child, depth + 1)
    return list(walk(ET.fromstring(text), 0))


assert outline("<a><b/><c><d x='1'/></c></a>") == ["a", "  b", "  c", "    d"]
