#!/usr/bin/env python3
"""The latency of execute_code ('1+1' in a warm Python session) over MCP, compared to the same execution over the bare protocol
of 'glovebox stdio', and to a message that runs nothing.

Usage: mcp.py BUILD. The three alternate, so that noise of the machine affects all; the ratios are those of the medians."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS, WARM_UP = 300, 30
SETTINGS = ['agent.enabled=true', 'agent.autoApprove=true', 'energy.enabled=false', 'agent.callsPerTurn=10000']


class Program:
    def __init__(self, program, command, state):
        arguments = [argument for setting in [*SETTINGS, 'stateDir=' + state] for argument in ('--set', setting)]
        self.process = subprocess.Popen([program, command, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.n = 0

    def exchange(self, message, key, kind):
        """Send a message and wait for the reply with its number."""
        self.process.stdin.write(json.dumps(message).encode() + b'\n')
        self.process.stdin.flush()
        while True:
            reply = json.loads(self.process.stdout.readline())
            if reply.get(key) == self.n and kind in reply:
                return reply


def over_mcp(program):
    program.n += 1
    reply = program.exchange({'jsonrpc': '2.0', 'id': program.n, 'method': 'tools/call', 'params': {
        'name': 'execute_code', 'arguments': {'runtime': 'python', 'code': '1+1'}}}, 'id', 'result')
    assert reply['result']['structuredContent']['value'] == '2', reply


def ping(program):
    program.n += 1
    program.exchange({'jsonrpc': '2.0', 'id': program.n, 'method': 'ping'}, 'id', 'result')


def over_stdio(program):
    program.n += 1
    reply = program.exchange({'type': 'execute', 'run': program.n, 'language': 'python', 'source': '1+1',
                              'conversation': 'bench', 'session': True}, 'run', 'result')
    assert reply['result']['result'] == 2, reply


def main():
    glovebox = os.path.join(os.path.abspath(sys.argv[1]), 'glovebox')
    with tempfile.TemporaryDirectory() as folder:
        mcp, stdio = Program(glovebox, 'mcp', folder + '/a'), Program(glovebox, 'stdio', folder + '/b')
        took = {'execute_code over MCP': (over_mcp, mcp, []), 'execute over glovebox stdio': (over_stdio, stdio, []),
                'ping over MCP': (ping, mcp, [])}
        for round_ in range(WARM_UP + ROUNDS):
            for call, program, times in took.values():
                began = time.perf_counter()
                call(program)
                if round_ >= WARM_UP:
                    times.append(time.perf_counter() - began)
        for program in (mcp, stdio):
            program.process.stdin.close()
            program.process.wait()
    medians = {name: statistics.median(times) * 1e6 for name, (_, _, times) in took.items()}
    base = medians['execute over glovebox stdio']
    for name, median in medians.items():
        print(f'{name:<30} {median:8.0f} us   {median / base:5.2f} times the bare protocol')


main()
