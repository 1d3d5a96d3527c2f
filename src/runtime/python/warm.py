"""Imports and runs once what many runs need, so that cells inherit it warm."""
import gc
import importlib

STDLIB = (
    "abc argparse array ast base64 binascii bisect calendar cmath collections collections.abc contextlib contextvars "
    "copy csv dataclasses datetime decimal difflib enum errno fractions functools glob hashlib heapq hmac html inspect io "
    "itertools json keyword linecache locale logging math numbers operator os os.path pathlib pickle platform pprint "
    "queue random re secrets shutil statistics string struct tempfile textwrap threading time timeit traceback types "
    "typing unicodedata urllib.parse uuid warnings weakref zlib encodings.idna encodings.latin_1 encodings.ascii"
).split()

DATA = ("numpy", "pandas", "matplotlib", "matplotlib.pyplot", "matplotlib.backends.backend_agg")

_PROGRAMS = (
    """
import asyncio, collections, dataclasses, datetime, functools, itertools, json, math, random, re, string, sys
@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5
    def norm(self):
        return math.hypot(self.x, self.y)
def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a
class Stack:
    def __init__(self):
        self._items = []
    def push(self, item):
        self._items.append(item)
    def __len__(self):
        return len(self._items)
words = re.findall(r"[a-z]+", "the quick brown fox jumps over the lazy dog")
counts = collections.Counter(words)
stack = Stack()
for word in sorted(set(words), key=len):
    stack.push(word.upper())
data = json.loads(json.dumps({"points": [[p.x, p.y] for p in (Point(i) for i in range(5))], "when": None, "pi": 3.14}))
try:
    {}["missing"]
except KeyError as error:
    caught = f"{type(error).__name__}: {error}"
total = sum(x * x for x in range(20)) + functools.reduce(lambda a, b: a + b, itertools.chain([1], (2, 3)))
print("warm", fib(30), len(stack), total, caught)
print(datetime.datetime(2024, 1, 2).isoformat(), "%.2f" % 1.5, "{:>5}".format("x"), file=sys.stderr)
{"fib": fib(50), "counts": dict(counts), "set": {1, 2}, "bytes": b"x", "when": datetime.datetime(2024, 1, 2), "x": 1.5}
""",
    "x = 1\ny = [x, 2.5, 'z', None, True]\nresult = {'y': y}",
    "import asyncio\nawait asyncio.sleep(0)\n(await asyncio.gather(*(asyncio.sleep(0, i) for i in range(3))))",
    "1 + 1",
    "def f():\n    raise ValueError('warm')\nf()",
    "import math\nmath.sqrt(2) ** 2",
)

_RESTRICTED = "import math\nclass A:\n    def f(self):\n        return '{}'.format(math.pi)\nA().f()"

_DATA_PROGRAMS = (
    """
import numpy as np
a = np.arange(12.0).reshape(3, 4)
b = (a @ a.T + a.mean(axis=0).sum()).tolist()
np.random.default_rng(1).normal(size=3).round(2)
""",
    """
import pandas as pd
df = pd.DataFrame({"a": [1, 2, 3, 4], "b": [1.5, 2.5, 3.5, 4.5], "c": list("xyxy")})
g = df.groupby("c")["b"].agg(["mean", "sum"]).sort_values("sum")
m = df.merge(g, left_on="c", right_index=True)[lambda d: d.a > 1].describe()
print(df.head(), df.to_csv(index=False))
df
""",
    """
import matplotlib.pyplot as plt
plt.plot([1, 2, 3], [1, 4, 9], label="warm")
plt.title("warm"); plt.xlabel("x"); plt.legend()
import pandas as pd
pd.DataFrame({"a": [1, 2]}).plot(kind="bar")
""",
)


def _run(runner, source, settings=None):
    try:
        runner.run(source, "<warm>", None, False, None, None, None, None, None, settings)
    except Exception as error:
        runner.describe(error)


def _close_files():
    """matplotlib keeps font files open."""
    import sys
    fonts = sys.modules.get("matplotlib.font_manager")
    if fonts is not None:
        fonts._get_font.cache_clear()


def _import(names):
    for name in names:
        try:
            importlib.import_module(name)
        except Exception:
            pass  # not installed, or fails here


def warm(profile):
    import glovebox_process
    import glovebox_runner as runner
    name, _, modules = profile.partition(":")
    _import(STDLIB)
    _import(DATA if name == "data" else [module for module in modules.split(",") if module])
    programs = list(_PROGRAMS)
    if profile == "data":
        programs += [program for program, name in zip(_DATA_PROGRAMS, ("numpy", "pandas", "matplotlib.pyplot"))
                     if name in __import__("sys").modules]
    # Often enough for the interpreter's adaptive specialisation.
    for _ in range(12):
        for program in programs[:len(_PROGRAMS)]:
            _run(runner, program)
    for program in programs[len(_PROGRAMS):]:
        _run(runner, program)
        _run(runner, program)
    _run(runner, _RESTRICTED, {"restricted": True, "allowedModules": ["math"]})
    _settle(runner)


def _settle(runner):
    """Reset all state, so that only caches remain."""
    import atexit
    import glovebox_policy
    import glovebox_traces
    import linecache
    glovebox_traces.forget_all()
    linecache.clearcache()
    glovebox_policy._policies.clear()
    runner.state.namespace = None
    runner.state.count = 0
    runner.state.policy = None
    runner.display.shown.reset()
    atexit._clear()
    _close_files()
    gc.collect()
    gc.collect()
    gc.freeze()
