#!/usr/bin/python3
"""Denials that are not of the network: each names the setting that decides, and what to set; then the same code runs. TAP."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap

GLOVEBOX = os.environ["GB_GLOVEBOX"]


def run(language, code, *arguments):
    command = [GLOVEBOX, "run", "-l", language, "--json", "-e", code, *arguments]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout)


def check(language, code, kind, rule, word, denying, allowing):
    denied = run(language, code, *denying)
    denials = denied.get("denials", [])
    tap.ok(f"{language}: a denial of kind {kind} names {rule}", len(denials) == 1 and denials[0]["kind"] == kind and
           denials[0]["rule"] == rule and rule in denials[0]["remedy"] and word in denials[0]["remedy"] and
           denials[0]["reason"] == denied["error"]["message"], denied)
    allowed = run(language, code, *allowing)
    tap.ok(f"{language}: with {' '.join(allowing)} the code runs", allowed["status"] == "success" and "denials" not in allowed,
           allowed)


LARGE = ["--set", "limits.{}.memory=1500M"]
for language, program, code in (("python", None, "x = 'a' * (90 << 20); 1"), ("typescript", None, "new ArrayBuffer(90 << 20); 1"),
                                ("shell", "perl", "perl -e '$x = \"a\" x (300 << 20)'")):
    if program and not shutil.which(program):
        tap.ok(f"{language}: # SKIP {program} is not installed", True)
        continue
    if language == "python" and os.environ.get("GB_SANITIZE", "none") != "none":
        tap.ok(f"{language}: # SKIP the malloc of a sanitizer is not counted", True)
        continue
    section = "javascript" if language == "typescript" else language
    check(language, code, "memory", f"limits.{section}.memory", "--memory", (), [LARGE[0], LARGE[1].format(section)])
if shutil.which("node"):
    for name, code, allowing in (("dns", "import 'dns'", ["--set", "node.allowedModules=[dns]"]),
                                 ("dns/promises", "await import('node:dns/promises')", ["--allow", "dns/promises"])):
        check("node", code, "module", "node.allowedModules", f"'{name}'", (), allowing)
else:
    tap.ok("node: # SKIP it is not installed", True)
failed = run("python", "1 / 0")
tap.ok("an error that is no denial has none", "denials" not in failed and failed["status"] == "error", failed)
tap.plan()
sys.exit(1 if tap.failed else 0)
