#!/usr/bin/python3
"""The cost of code.execute, compared to the same Python source under RestrictedPython in this process, which isolates nothing
from it, and under subprocess, which isolates nothing from the machine.

Usage: actions.py BUILD. The ways alternate, so that noise of the machine affects all; the ratios are those of the medians."""
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'sdk/python'))

# Debian 12's RestrictedPython makes trees that its Python refuses, except of the simplest statements.
LOOP = 'total = i = 0\nwhile i < 300000:\n    total = total + i % 7\n    i = i + 1\nresult = total'
SOURCES = [('one expression', 'result = 6 * 7', 42, 200),
           ('a loop of 300,000 turns', LOOP, 899997, 12)]
WARM_UP = 5


def make_restricted():
    """None if RestrictedPython is not installed."""
    try:
        from RestrictedPython import compile_restricted
        from RestrictedPython.Guards import safe_builtins
    except ImportError:
        print('RestrictedPython is not installed; this adds it: scripts/setup bench')
        return None

    def run(source):
        names = {'__builtins__': safe_builtins}
        exec(compile_restricted(source, '<source>', 'exec'), names)
        return names['result']

    return run


def by_subprocess(source):
    done = subprocess.run([sys.executable, '-I', '-c', source + '\nprint(result)'], capture_output=True, text=True, check=True)
    return int(done.stdout)


def make_actions():
    from glovebox.actions import register_actions

    class Engine:
        _enable_code_execution = True

    engine, registry = Engine(), {}
    register_actions(registry, engine)

    def run(source):
        result = registry['code.execute'](state={}, code=source)
        assert result['success'], result
        return result['return_value']

    box = registry['code.sandbox'](state={}, action='create')['sandbox_id']

    def run_in_sandbox(source):
        result = registry['code.sandbox'](state={}, action='execute', sandbox_id=box, code=source)
        assert result['success'], result
        return result['return_value']

    return engine, run, run_in_sandbox


def measure(ways, source, expected, rounds):
    took = {name: [] for name in ways}
    for round_ in range(WARM_UP + rounds):
        for name, run in ways.items():
            began = time.perf_counter()
            value = run(source)
            if round_ >= WARM_UP:
                took[name].append(time.perf_counter() - began)
            assert value == expected, (name, value)
    return {name: statistics.median(times) * 1e6 for name, times in took.items()}


def main():
    os.environ['GLOVEBOX_PATH'] = os.path.join(os.path.abspath(sys.argv[1]), 'glovebox')
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(HOME=folder, GLOVEBOX_STATE_DIR=folder + '/state')
        engine, execute, in_sandbox = make_actions()
        restricted = make_restricted()
        ways = {'code.execute': execute, 'code.sandbox, execute': in_sandbox,
                **({'RestrictedPython in process': restricted} if restricted else {}), 'subprocess': by_subprocess}
        try:
            for title, source, expected, rounds in SOURCES:
                medians = measure(ways, source, expected, rounds)
                print(f'{title}:')
                for name, median in medians.items():
                    print(f'  {name:<30} {median:8.0f} us   {median / medians["subprocess"]:6.3f} times subprocess')
        finally:
            engine._glovebox_actions.close()


main()
