"""Modules of the job: its own sources, and the host's imports."""
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import glovebox_traces as traces

# Dotted name to (filename, source, is_package).
_sources = {}
_from_job = set()


def _dotted(filename):
    """'./pkg/util.py' is pkg.util, './pkg/__init__.py' is pkg."""
    name = filename[:-3] if filename.endswith(".py") else filename
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    is_package = len(parts) > 1 and parts[-1] == "__init__"
    if is_package:
        parts.pop()
    return ".".join(parts), is_package


class _Finder:
    """Finds and runs source modules of the job."""

    compile = None  # set by the runner: (source, filename) to code and its builtins

    @staticmethod
    def find_spec(name, path=None, target=None):
        found = _sources.get(name)
        if found is None:
            return None
        return ModuleSpec(name, _Finder, origin=found[0], is_package=found[2])

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        filename, source, _ = _sources[module.__name__]
        code, builtins = _Finder.compile(source, filename)
        namespace = module.__dict__
        namespace["__builtins__"] = builtins
        exec(code, namespace)

    @staticmethod
    def get_source(name):
        return _sources[name][1]


finder = _Finder


def add_sources(modules):
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
    for filename, source in modules.items():
        name, is_package = _dotted(filename)
        if name in _from_job:
            sys.modules.pop(name, None)  # a later job of a session replaces it
        _sources[name] = filename, source, is_package
        _from_job.add(name)
        traces.remember(filename, source)
        while "." in name:
            name = name.rpartition(".")[0]
            if name in _sources:
                _sources[name] = *_sources[name][:2], True
            else:
                _sources[name] = name, "", True
            _from_job.add(name)


def add_imports(imports):
    for name, exports in imports.items():
        module = ModuleType(name)
        if isinstance(exports, dict):
            module.__dict__.update(exports)
            module.__all__ = list(exports)
        else:
            module.default = exports
        sys.modules[name] = module
        _from_job.add(name)
        parent, _, child = name.rpartition(".")
        if parent:
            if parent not in sys.modules:
                add_imports({parent: {}})
                sys.modules[parent].__path__ = []
            setattr(sys.modules[parent], child, module)


def is_from_job(name):
    return name in _from_job


def forget_all():
    for name in _from_job:
        sys.modules.pop(name, None)
    _from_job.clear()
    _sources.clear()
