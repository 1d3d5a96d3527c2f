#!/usr/bin/python3
"""A small engine for YAML agents, to see code.execute and code.sandbox at work: nodes with 'uses', 'with' and 'output'.

    ./run.py statistics.yaml --set 'rows=[3, 1, 2]'
    ./run.py generated.yaml                             code that a model wrote; here, from a file of answers
    ./run.py sandbox.yaml --checkpoint saved.json --until prepare
    ./run.py sandbox.yaml --resume saved.json           the sandbox was lost with the first process: reported

The actions are those of any engine that keeps callables 'action(state=…, **with)' in a dict. See README.md."""

import argparse
import copy
import importlib
import importlib.util
import json
import re
import sys
from pathlib import Path

import yaml

STEPS_MAX = 1000
TEMPLATE = re.compile(r"\{\{\s*([A-Za-z_][\w.]*)\s*(\|\s*json)?\s*\}\}")


class WorkflowError(Exception):
    """The workflow cannot go on; the text is for its author."""


def look_up(path, scope):
    """The value at 'state.answer.code'."""
    value = scope
    for part in path.split("."):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            raise WorkflowError(f"{{{{ {path} }}}}: there is no '{part}'")
    return value


def render(value, scope):
    """Templates in texts. A text that is one template becomes its value; '| json' makes a literal for code."""
    if isinstance(value, dict):
        return {key: render(item, scope) for key, item in value.items()}
    if isinstance(value, list):
        return [render(item, scope) for item in value]
    if not isinstance(value, str):
        return value
    whole = TEMPLATE.fullmatch(value.strip())
    if whole and not whole[2]:
        return look_up(whole[1], scope)

    def text(match):
        found = look_up(match[1], scope)
        return json.dumps(found) if match[2] else str(found)

    return TEMPLATE.sub(text, value)


class Engine:
    """Has what modules of actions expect of an engine: a registry, the configuration, the flag."""

    def __init__(self, enable_code_execution=False):
        self.actions_registry = {"answers.next": self._next_answer}
        self._enable_code_execution = enable_code_execution
        self._config = {}
        self._folder = Path()
        self._answers = []

    # --- loading

    def load(self, path):
        """Read a workflow, and the modules that it imports."""
        self._folder = Path(path).resolve().parent
        self._config = yaml.safe_load(Path(path).read_text()) or {}
        self._answers = list(self._config.get("answers", []))
        for wanted in self._config.get("imports", []):
            module = self._import(wanted)
            registry = {}
            module.register_actions(registry, self)
            prefix = wanted.get("namespace")
            self.actions_registry.update({f"{prefix}.{name}" if prefix else name: action
                                          for name, action in registry.items()})
        names = [node.get("name") for node in self._config.get("nodes", [])]
        if not names or None in names or len(set(names)) != len(names):
            raise WorkflowError(f"{path}: needs 'nodes', each with a name of its own")
        return self

    def _import(self, wanted):
        if "package" in wanted:
            return importlib.import_module(wanted["package"])
        spec = importlib.util.spec_from_file_location(Path(wanted["path"]).stem, self._folder / wanted["path"])
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def _next_answer(self, state, **_):
        """Stands for a model: the answers of the workflow, one after the other. The number of the next is in the state, so
        that a workflow that is resumed goes on with it."""
        number = state.get("answers_used", 0)
        if number >= len(self._answers):
            return {"success": False, "error": "there are no more answers"}
        state["answers_used"] = number + 1
        return {"success": True, "text": self._answers[number], "code": code_of(self._answers[number])}

    # --- running

    def run(self, state, at=None, until=None, on_step=None):
        """Run the nodes from @at. Returns (state, the next node or None). @on_step sees each result."""
        nodes = {node["name"]: node for node in self._config["nodes"]}
        order, state = list(nodes), copy.deepcopy(state)
        at = at or order[0]
        for _ in range(STEPS_MAX):
            node = nodes.get(at)
            if node is None:
                raise WorkflowError(f"there is no node '{at}'")
            result = self._step(node, state)
            if on_step:
                on_step(node["name"], result)
            following = order[order.index(at) + 1:]
            next_node = node.get("on_error") if failed(result) else node.get("goto", following[0] if following else None)
            if failed(result) and not next_node:
                raise WorkflowError(f"node '{at}': {result.get('error')}")
            if next_node in (None, "end") or at == until:
                return state, None if next_node == "end" else next_node
            at = next_node
        raise WorkflowError(f"more than {STEPS_MAX} steps")

    def _step(self, node, state):
        action = self.actions_registry.get(node.get("uses"))
        if action is None:
            raise WorkflowError(f"node '{node['name']}': there is no action '{node.get('uses')}'")
        arguments = render(node.get("with", {}), {"state": state})
        result = action(state=state, **arguments, node=node["name"])
        if node.get("output"):
            state[node["output"]] = result
        return result

    # --- checkpoints

    def save(self, path, state, next_node):
        Path(path).write_text(json.dumps({"next": next_node, "state": state}, indent=1))

    def resume(self, path, **options):
        """Go on where a checkpoint was saved. A sandbox that its state names and that has ended since is an error: a new one
        would not have its variables."""
        saved = json.loads(Path(path).read_text())
        lost = self.lost_sandboxes(saved["state"])
        if lost:
            raise WorkflowError("lost since the checkpoint: " + ", ".join(
                f"sandbox {sandbox_id} (state.{name})" for name, sandbox_id in lost))
        return self.run(saved["state"], saved["next"], **options)

    def lost_sandboxes(self, state):
        """[(key of the state, id)] of sandboxes that do not exist any more."""
        live = self.actions_registry.get("code.sandbox", lambda **_: {})(state=state, action="list").get("sandboxes", [])
        return [(key, value["sandbox_id"]) for key, value in state.items()
                if isinstance(value, dict) and value.get("created") and value.get("sandbox_id") not in live]


def failed(result):
    return isinstance(result, dict) and result.get("success") is False


def code_of(text):
    """The code in the answer of a model: its first fenced block, or all of it."""
    block = re.search(r"```[a-z0-9]*\n(.*?)```", text, re.S)
    return block[1] if block else text


def show(name, result):
    shown = {key: value for key, value in result.items() if value not in (None, "", [])} if isinstance(result, dict) else result
    shown.pop("execution_time_ms", None) if isinstance(shown, dict) else None
    print(f"{name}: {json.dumps(shown, default=str)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workflow")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=JSON", help="a value of the state")
    parser.add_argument("--checkpoint", metavar="FILE", help="save the state here at the end")
    parser.add_argument("--until", metavar="NODE", help="stop after this node")
    parser.add_argument("--resume", metavar="FILE", help="go on from a checkpoint")
    parser.add_argument("--disable-code", action="store_true", help="refuse all code, whatever the workflow says")
    options = parser.parse_args()
    engine = Engine(enable_code_execution=not options.disable_code)
    try:
        state = dict(engine.load(options.workflow)._config.get("state", {}))
        for given in options.set:
            name, _, value = given.partition("=")
            state[name] = json.loads(value)
        steps = {"until": options.until, "on_step": show}
        state, next_node = engine.resume(options.resume, **steps) if options.resume else engine.run(state, **steps)
        if options.checkpoint:
            engine.save(options.checkpoint, state, next_node)
    except (WorkflowError, OSError, ValueError) as error:
        sys.exit(f"run.py: {error}")


if __name__ == "__main__":
    main()
