#!/usr/bin/python3
"""The cost of the Python SDK: run("export default 1+1") compared to the same message over the bare protocol, and a sandboxed
run of Python code compared to a new process of Python (python3 -I -c).

Usage: python.py BUILD. The two of a pair alternate in blocks, so that noise of the machine affects both, and the
sandboxes that one prepares after a run take no time of the other. The ratios are those of the medians."""
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'sdk/python'))
from glovebox import Glovebox  # noqa: E402

ROUNDS, BLOCK = 25, 20
PYTHON = '/usr/bin/python3'


class Bare:
    """The protocol without a client."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, 'stdio'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdout.readline()
        self.n = 0

    def run(self):
        self.n += 1
        message = {'type': 'run', 'run': self.n, 'source': 'export default 1+1', 'options': {}, 'limits': {}}
        self.process.stdin.write(json.dumps(message).encode() + b'\n')
        self.process.stdin.flush()
        assert json.loads(self.process.stdout.readline())['result']['result'] == 2

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    program = os.path.join(os.path.abspath(sys.argv[1]), 'glovebox')
    bare, box = Bare(program), Glovebox(program)
    code = 'import math; print(math.sqrt(16))'

    def sandboxed():
        assert box.run(code, language='python').stdout == '4.0\n'

    def process():
        assert subprocess.run([PYTHON, '-I', '-c', code], capture_output=True, check=True).stdout == b'4.0\n'

    def sdk():
        assert box.run('export default 1+1').result == 2

    for pair in ({'the bare protocol': bare.run, 'sdk.run("1+1")': sdk},
                 {'a process of Python': process, 'sandboxed Python': sandboxed}):
        took = {name: [] for name in pair}
        for _ in range(ROUNDS):
            for name, call in pair.items():
                for i in range(2 * BLOCK):
                    began = time.perf_counter()
                    call()
                    if i >= BLOCK:
                        took[name].append(time.perf_counter() - began)
        base, *_ = medians = {name: statistics.median(times) * 1e6 for name, times in took.items()}
        for name, median in medians.items():
            print(f'{name:<22} {median:8.0f} us   {median / medians[base]:5.2f} times {base}')
    bare.close()
    box.close()


main()
