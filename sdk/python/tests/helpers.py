"""A Glovebox with settings and state of its own, apart from those of the user that runs the tests."""

import os
import tempfile
import unittest
from pathlib import Path

from glovebox import Glovebox

OPEN = {"agent.enabled": True, "agent.autoApprove": True, "energy.enabled": False}
WAIT = 120  # seconds; only a test that fails takes that long


class Case(unittest.TestCase):
    """Each class has one server, which its tests share."""

    settings = {}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        Path(cls.folder.name, "glovebox.yaml").write_text("")
        cls.box = cls.make()

    @classmethod
    def tearDownClass(cls):
        cls.box.close()
        cls.folder.cleanup()

    @classmethod
    def options(cls, **more):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("GLOVEBOX_") or name == "GLOVEBOX_PATH"}
        env = {**kept, "GLOVEBOX_STATE_DIR": cls.folder.name + "/state", "HOME": cls.folder.name}
        return {"env": env, "config_file": cls.folder.name + "/glovebox.yaml", "settings": cls.settings, **more}

    @classmethod
    def make(cls, **more):
        return Glovebox(**cls.options(**more))
