from graphlib import CycleError, TopologicalSorter


def order(needs: dict[str, set[str]]) -> list[str] | None:
    """An order in which everything comes after what it needs; None if there is none."""
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError:
        return None


found = order({"app": {"lib", "log"}, "lib": {"core"}, "log": {"core"}})
assert found.index("core") < found.index("lib") < found.index("app")
assert order({"a": {"b"}, "b": {"a"}}) is None
