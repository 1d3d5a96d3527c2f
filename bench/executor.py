#!/usr/bin/python3
"""Code with tools on js, compared to a plain Deno subprocess that calls tools by JSON lines and has no other sandbox than
the permissions of Deno.

Usage: executor.py BUILD [CALLS]. The two alternate, and the tools of both are in this process. "Start to result" is code
that returns at once: from the message to the result in a running 'glovebox stdio', and from the start of the process to
its end for Deno. "A call" is one of CALLS (10,000) calls in one run, one after the other, without that. Ratios are those
of the medians."""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STARTS, ROUNDS = 25, 5
TOOLS = [{'name': 'call', 'inputSchema': {'type': 'object', 'properties': {'i': {'type': 'integer'}}, 'required': ['i']}}]
RUNTIME = (Path(__file__).parent / 'executor-deno.ts').read_text()


def body(calls):
    return f'let sum = 0; for (let i = 0; i < {calls}; i++) sum += (await call({{i}})).i; return sum;'


def expected(calls):
    return str(calls * (calls - 1) // 2)


class Executor:
    """Messages to 'glovebox stdio'."""

    def __init__(self, program, folder):
        env = {name: value for name, value in os.environ.items() if not name.startswith('GLOVEBOX_')}
        env.update(HOME=folder, GLOVEBOX_STATE_DIR=os.path.join(folder, 'state'))
        settings = ('agent.enabled=true', 'agent.autoApprove=true', 'energy.enabled=false', 'executor.maxToolCalls=100000',
                    'executor.timeout=60s')
        command = [program, 'stdio']
        for setting in settings:
            command += ['--set', setting]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self.process.stdout.readline()
        self.n = 0

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b'\n')
        self.process.stdin.flush()

    def run(self, calls):
        self.n += 1
        self.send({'type': 'executor', 'run': self.n, 'source': body(calls), 'tools': json.dumps(TOOLS)})
        while True:
            message = json.loads(self.process.stdout.readline())
            if message['type'] == 'tool_call':
                result = json.dumps(json.loads(message['params']))
                self.send({'type': 'tool_answer', 'run': self.n, 'call': message['call'], 'result': result})
            elif message['type'] == 'executor_result':
                assert message['result'].get('output') == expected(calls), message
                return
            elif message['type'] == 'error':
                raise SystemExit(f'bench-executor: {message}')

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Deno:
    def __init__(self, program, folder):
        self.program, self.file = program, os.path.join(folder, 'code.ts')
        self.env = {'PATH': os.environ['PATH'], 'HOME': folder, 'DENO_NO_UPDATE_CHECK': '1', 'NO_COLOR': '1'}
        self.folder = folder

    def run(self, calls):
        Path(self.file).write_text(f'{RUNTIME}async function main() {{\n{body(calls)}\n}}\n')
        command = [self.program, 'run', '--quiet', '--no-prompt', f'--allow-read={self.folder}', f'--allow-write={self.folder}',
                   '--deny-net', '--deny-run', '--deny-env', '--deny-ffi', self.file]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.env, cwd=self.folder)
        output = None
        for line in process.stdout:
            message = json.loads(line)
            if message['type'] == '__output__':
                output = message['data']
                continue
            answer = {'type': '__tool_result__', 'call_id': message['call_id'], 'result': message['params']}
            process.stdin.write(json.dumps(answer).encode() + b'\n')
            process.stdin.flush()
        process.stdin.close()
        assert process.wait() == 0 and output == expected(calls), output

    def close(self):
        pass


def measure(runtimes, calls, rounds):
    """The median of each, in microseconds."""
    took = {name: [] for name in runtimes}
    for i in range(rounds + 1):
        for name, runtime in runtimes.items():
            began = time.perf_counter()
            runtime.run(calls)
            if i:  # the first one fills caches
                took[name].append((time.perf_counter() - began) * 1e6)
    return {name: statistics.median(times) for name, times in took.items()}


def report(what, medians):
    base = medians['plain Deno']
    for name, median in medians.items():
        print(f'{what:<16} {name:<12} {median:10.1f} us   {median / base:5.2f} times plain Deno')


def main():
    program = os.path.join(os.path.abspath(sys.argv[1]), 'glovebox')
    calls = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    deno = shutil.which('deno')
    if not deno:
        print('plain Deno: not measured, since there is no deno in the PATH')
        return
    with tempfile.TemporaryDirectory() as folder:
        runtimes = {'plain Deno': Deno(deno, folder), 'executor': Executor(program, folder)}
        starts = measure(runtimes, 0, STARTS)
        report('start to result', starts)
        many = measure(runtimes, calls, ROUNDS)
        report('a call', {name: (many[name] - starts[name]) / calls for name in runtimes})
        for runtime in runtimes.values():
            runtime.close()


main()
