"""What the owner of the machine allows, for backends that do not run code by the program ``glovebox``, which checks it itself."""

from __future__ import annotations

import json
import os
import subprocess

from glovebox import GloveboxError
from glovebox._transport import find_program
from glovebox.actions._backends import BackendError

SECONDS = 30.0
DISABLED = "code execution is disabled: the setting actions.enabled is false"


def _is_false_in_environment() -> bool:
    return os.environ.get("GLOVEBOX_ACTIONS_ENABLED", "").strip().lower() in ("false", "no", "off", "0")


def check_owner() -> None:
    """Raises BackendError if the settings disable the actions, or cannot be read. Without the program there are only those of
    the environment: such backends do not need it."""
    if _is_false_in_environment():
        raise BackendError(DISABLED)
    try:
        program = find_program(None)
    except GloveboxError:
        return
    try:
        done = subprocess.run([program, "config", "show", "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=SECONDS, check=True)
        settings = {setting["name"]: setting.get("value") for setting in json.loads(done.stdout)["settings"]}
        is_enabled = settings["actions.enabled"]
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip()
        raise BackendError(f"the settings of this machine cannot be read: {said[:500]}") from None
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError, TypeError) as error:
        raise BackendError(f"the settings of this machine cannot be read: {error}") from None
    if is_enabled is not True:
        raise BackendError(DISABLED)
