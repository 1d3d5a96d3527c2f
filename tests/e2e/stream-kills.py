#!/usr/bin/env python3
"""Servers that are killed while runs of agents stream output: no output of a run without a record is sent. TAP.

GB_GLOVEBOX is the program. GB_FIRST_KILLS hosts are killed when the first byte of a run arrives, GB_SOAK_KILLS
at a random moment; GB_SOAK_SEED repeats the choices."""
import json
import os
import random
import shutil
import subprocess
import tempfile
import time

from tap import ok, plan

glovebox = os.environ['GB_GLOVEBOX']
first_kills = int(os.environ.get('GB_FIRST_KILLS', 12))
random_kills = int(os.environ.get('GB_SOAK_KILLS', 12))
seed = int(os.environ.get('GB_SOAK_SEED', time.time_ns() % 1000000))
random.seed(seed)

state = tempfile.mkdtemp()
os.environ['GLOVEBOX_STATE_DIR'] = os.environ['HOME'] = state
settings = []
for setting in ['agent.enabled=true', 'agent.autoApprove=true', 'energy.enabled=false',
                'agent.maxConcurrentRunsPerConversation=100']:
    settings += ['--set', setting]

# Each run prints MARK:0, MARK:1, ... until it is ended, or a few lines. MARK identifies the run in its record.
ENDLESS = {
    'javascript': 'for (let i = 0;; i++) {{ console.log("{mark}:" + i); '
                  'for (const t = Date.now(); Date.now() < t + 2;); }}',
    'python': 'import time, itertools\nfor i in itertools.count():\n'
              '  print("{mark}:%d" % i, flush=True); time.sleep(0.002)',
    'shell': 'i=0; while :; do echo {mark}:$i; i=$((i+1)); sleep 0.002; done',
}
SHORT = {
    'javascript': 'for (let i = 0; i < 5; i++) console.log("{mark}:" + i)',
    'python': 'for i in range(5): print("{mark}:%d" % i, flush=True)',
    'shell': 'for i in 0 1 2 3 4; do echo {mark}:$i; done',
}
told = {}     # mark: the lines that arrived, in order
results = {}  # mark: how many results arrived
n_marks = 0


def new_run(codes):
    global n_marks
    n_marks += 1
    mark = 'mark%d_' % n_marks
    language = random.choice(list(codes))
    told[mark] = []
    results[mark] = 0
    return mark, language, codes[language].format(mark=mark)


def note_lines(text):
    for line in text.splitlines(True):
        mark, colon, number = line.partition(':')
        if mark in told:
            told[mark].append(number)


def start_execute(codes):
    mark, language, code = new_run(codes)
    return subprocess.Popen([glovebox, 'execute', '-l', language, '-e', code, '--timeout', '60s'] + settings,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def start_stdio(codes, n):
    """Returns the host, and the mark of each run by its number."""
    host = subprocess.Popen([glovebox, 'stdio'] + settings, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)
    marks = {}
    for number in range(1, n + 1):
        marks[number], language, code = new_run(codes)
        message = {'type': 'execute', 'run': number, 'language': language, 'source': code}
        host.stdin.write(json.dumps(message).encode() + b'\n')
    host.stdin.flush()
    return host, marks


def note_messages(data, marks):
    partial = {}
    for line in data.split(b'\n')[:-1]:
        message = json.loads(line)
        mark = marks.get(message.get('run'))
        if message['type'] == 'log':
            note_lines(message['args'][0] + '\n')
        elif message['type'] == 'output':
            partial[mark] = partial.get(mark, '') + message['text']
        elif message['type'] == 'result':
            results[mark] += 1
            if message['result']['status'] == 'denied':
                print('# denied: %s' % message['result']['error'])
    for text in partial.values():
        note_lines(text)


def kill(host):
    host.kill()
    data = host.stdout.read()
    host.wait()
    if host.stdin:
        host.stdin.close()
    host.stdout.close()
    return data


def kill_at_first_byte():
    """Kills a server at the first byte of a run, after the hello."""
    if random.random() < 0.5:
        host = start_execute(ENDLESS)
        data = host.stdout.read(1)
        note_lines((data + kill(host)).decode())
    else:
        host, marks = start_stdio(ENDLESS, 3)
        data = host.stdout.readline() + host.stdout.read(1)
        note_messages(data + kill(host), marks)


def kill_at_random(span):
    if random.random() < 0.3:
        host = start_execute(random.choice([ENDLESS, SHORT]))
        time.sleep(random.random() * span)
        note_lines(kill(host).decode())
    else:
        host, marks = start_stdio(random.choice([ENDLESS, SHORT]), random.randint(1, 6))
        time.sleep(random.random() * span)
        note_messages(kill(host), marks)


def measure():
    """1.5 times the seconds from the start of a server to the first byte of a run."""
    began = time.monotonic()
    kill_at_first_byte()
    return (time.monotonic() - began) * 2


def is_repeated(lines):
    # The last line of each may be cut when its server is killed.
    whole = [int(line) for line in lines if line.endswith('\n')]
    return whole != list(range(len(whole)))


def audit(*args):
    return subprocess.run([glovebox, 'audit'] + list(args), stdout=subprocess.PIPE, check=False)


try:
    print('# seed %d' % seed, flush=True)
    span = max(measure() for _ in range(3))
    for _ in range(first_kills):
        kill_at_first_byte()
    for _ in range(random_kills):
        kill_at_random(span)

    verified = audit('verify', '--json')
    report = json.loads(verified.stdout)
    begun, ended = set(), set()
    for line in audit('export').stdout.splitlines():
        record = json.loads(line)
        mark = record['inputCode'].partition('mark')[2].partition(':')[0]
        (begun if record['type'] == 'execution_begin' else ended).add('mark' + mark)
    heard = {mark for mark, lines in told.items() if lines or results[mark]}
    unrecorded = heard - begun - ended
    repeated = [mark for mark, lines in told.items() if is_repeated(lines)]
    print('# %d servers killed, %d runs, %d of them with output, %d begun and %d ended in the log' %
          (first_kills + random_kills + 3, n_marks, len(heard), len(begun), len(ended)))
    for mark in sorted(unrecorded)[:5] + repeated[:5]:
        print('# %s printed %s' % (mark, told[mark][:10]))
    ok('the log is valid', verified.returncode == 0 and report['whole'])
    ok('output was received', len(heard) >= first_kills)
    ok('no output of a run without a record was received', not unrecorded)
    ok('no line was received twice or out of order', not repeated)
    ok('no run has two results', all(n <= 1 for n in results.values()))
    ok('a run with a result has a record of its end', all(mark in ended for mark in results if results[mark]))
    ok('killed runs are counted as unfinished', report['unfinished'] == len(begun - ended))
    plan()
finally:
    shutil.rmtree(state, ignore_errors=True)
