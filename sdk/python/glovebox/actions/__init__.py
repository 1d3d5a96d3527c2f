"""The actions ``code.execute`` and ``code.sandbox`` for engines that run YAML agents.

    registry = {}
    register_actions(registry, engine)      # engine._enable_code_execution must be True when an action is called
    registry["code.execute"](state={}, code="6 * 7")["return_value"]  # 42

A workflow imports this package by its name (``imports: [{package: glovebox.actions}]``). See docs/YAML_AGENTS.md.
"""

from glovebox.actions._backends import CodeBackend, CodeRequest, CodeSandbox, register_backend
from glovebox.actions._calls import register_actions

ACTIONS = ("code.execute", "code.sandbox", "actions.code_execute", "actions.code_sandbox")

__tea_actions__ = {
    "version": "0.1.0",
    "description": "Code of agents in sandboxes: Python, JavaScript, bash",
    "actions": list(ACTIONS),
}
__all__ = ["ACTIONS", "CodeBackend", "CodeRequest", "CodeSandbox", "register_actions", "register_backend"]
