"""Engines for the tests of glovebox.actions, with settings and state of their own."""

import importlib.util
import os
import tempfile
import unittest
from pathlib import Path

from glovebox.actions import register_actions

ROOT = Path(__file__).resolve().parents[3]
RUNNER = ROOT / "examples/yaml-agent/run.py"


def load_runner():
    """The engine of the example."""
    spec = importlib.util.spec_from_file_location("yaml_agent_run", RUNNER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Engine:
    """The least that an engine has."""

    def __init__(self, enabled=True, code=None, **config):
        self._enable_code_execution = enabled
        self._config = {"settings": {"code": code or {}}, **config}
        self.actions_registry = {}
        register_actions(self.actions_registry, self)

    def execute(self, code=None, **given):
        return self.actions_registry["code.execute"](state={}, code=code, **given)

    def sandbox(self, action, **given):
        return self.actions_registry["code.sandbox"](state={}, action=action, **given)

    def close(self):
        self._glovebox_actions.close()


class Case(unittest.TestCase):
    """The servers that engines start read settings and state of a folder of the class."""

    settings = ""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        home = Path(cls.folder.name)
        (home / "glovebox.yaml").write_text(cls.settings)
        cls.saved = dict(os.environ)
        for name in [name for name in os.environ if name.startswith(("GLOVEBOX_", "E2B_")) and name != "GLOVEBOX_PATH"]:
            del os.environ[name]
        os.environ.update({"HOME": str(home), "GLOVEBOX_CONFIG": str(home / "glovebox.yaml"),
                           "GLOVEBOX_STATE_DIR": str(home / "state")})
        cls.engine = Engine()

    @classmethod
    def tearDownClass(cls):
        cls.engine.close()
        os.environ.clear()
        os.environ.update(cls.saved)
        cls.folder.cleanup()

    def make(self, **options):
        engine = Engine(**options)
        self.addCleanup(engine.close)
        return engine

    def assert_ok(self, result, value=None):
        self.assertIsNone(result["error"], result)
        self.assertTrue(result["success"], result)
        self.assertEqual(result["return_value"], value)

    def assert_error(self, result, beginning):
        self.assertFalse(result["success"], result)
        self.assertTrue(result["error"].startswith(beginning), result)
        self.assertIsNone(result["return_value"])
