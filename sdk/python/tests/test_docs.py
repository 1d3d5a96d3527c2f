"""The blocks of docs/PYTHON_SDK.md are executed, and its table compares the clients of both SDKs."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from glovebox import Glovebox

from .helpers import WAIT

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/PYTHON_SDK.md").read_text()


class Page(unittest.TestCase):
    def test_blocks(self):
        blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
        self.assertGreaterEqual(len(blocks), 5)
        for block in blocks:
            with self.subTest(block=block):
                done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, timeout=WAIT, check=False,
                                      env={**os.environ, "PYTHONPATH": str(ROOT / "sdk/python")})
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_whatever_one_sdk_can_do_the_other_can(self):
        rows = re.findall(r"^\| `(.+?)` \| `(.+?)` \|$", PAGE.split("## Compared")[1], re.M)
        typescript = {name for row in rows for name in re.split(r"`, `", row[0])}
        python = {name for row in rows for name in re.split(r"`, `", row[1])}
        source = (ROOT / "sdk/typescript/src/client.ts").read_text()
        methods = set(re.findall(r"^  (?:async )?(\w+)(?:<[^>]*>)?\(", source, re.M)) - {"constructor"}
        only_typescript = set(re.findall(r"`(\w+)` and .* TypeScript only", PAGE))
        self.assertEqual(typescript | only_typescript, methods)
        self.assertEqual(python, {name for name in dir(Glovebox) if not name.startswith("_")} - {"present", "run_callback", "settle"})
