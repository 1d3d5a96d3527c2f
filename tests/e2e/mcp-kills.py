#!/usr/bin/env python3
"""MCP clients that are killed at random moments: their servers end with everything that they have started, and the record
is whole. TAP.

GB_GLOVEBOX is the program. GB_MANY_KILLS clients are killed; GB_SOAK_SEED repeats the choices."""
import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from mcpclient import Server, glovebox
from tap import ok, plan

kills = int(os.environ.get('GB_MANY_KILLS', 20))
seed = int(os.environ.get('GB_SOAK_SEED', time.time_ns() % 1000000))
CODES = {
    'python': 'import time\nprint("{mark}", flush=True)\nopen("f", "w").write("x")\ntime.sleep({pause})',
    'shell': 'echo {mark}; (sleep 100 &) ; sleep {pause}; touch f',
    'typescript': 'console.log("{mark}"); for (const t = Date.now(); Date.now() < t + {pause} * 1000;);',
}


def be_a_client(folder, number):
    """Calls the server until it is killed. Each result that has arrived is noted."""
    random.seed(seed + number)
    server = Server('agent.autoApprove=true', 'agent.maxConcurrentRuns=1000', state=folder)
    server.initialize()
    print('up', flush=True)
    for i in range(1000):
        language = random.choice(list(CODES))
        mark = f'mark_{number}_{i}_'
        code = CODES[language].format(mark=mark, pause=random.choice([0, 0, 0.05, 1000]))
        request = server.start_tool('execute_code', token=mark, runtime=language, code=code)
        if random.random() < 0.5:
            server.progress(mark, mark)
            os.write(1, (mark + '\n').encode())
        elif 'sleep 1000' not in code and '1000)' not in code and '1000 *' not in code:
            server.reply(request)
            os.write(1, (mark + '\n').encode())


def wait_for_all():
    """Wait until no process is left that a child has started: all of them become children of this process. False after a
    minute."""
    def give_up(*_):
        raise TimeoutError
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(60)
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        return True
    except TimeoutError:
        return False
    finally:
        signal.alarm(0)


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(where, name), folder)
                  for where, _, names in os.walk(folder) for name in names if name != 'stderr')


def main():
    assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER
    random.seed(seed)
    folder = tempfile.mkdtemp()
    temporary = os.path.join(folder, 'tmp')
    os.mkdir(temporary)
    os.environ['TMPDIR'] = temporary
    server = Server('agent.autoApprove=true', state=folder)
    server.run('python', '1')
    server.close()
    before = files_below(folder)
    told, slowest, n_up, left = [], 0, 0, 0
    for number in range(kills):
        client = subprocess.Popen([sys.executable, __file__, 'client', folder, str(number)], stdout=subprocess.PIPE)
        if random.random() < 0.9:
            n_up += client.stdout.readline() == b'up\n'
        time.sleep(random.random() * 1.5)  # the moment of the kill is random; nothing is waited for
        client.send_signal(signal.SIGKILL)
        began = time.monotonic()
        left += not wait_for_all()
        slowest = max(slowest, time.monotonic() - began)
        told += client.stdout.read().decode().split()
    print(f'# {kills} clients killed (seed {seed}), {len(told)} results and outputs had arrived; after '
          f'{slowest * 1000:.0f} ms at most no process was left')
    ok('no process is left', left == 0, left)
    ok('most clients were at work', n_up > kills / 2 and len(told) > 0, n_up, len(told))
    ok('no file is left', files_below(folder) == before, before, files_below(folder))
    server = Server('agent.autoApprove=true', state=folder)
    verified = subprocess.run([glovebox, 'audit', 'verify', '--dir', folder + '/state'], stdout=subprocess.PIPE)
    recorded = ''.join(record['inputCode'] for record in server.records())
    missing = [mark for mark in told if mark not in recorded and mark != 'up']
    ok('every result and output that arrived has a record', not missing, missing)
    ok('the log is whole', verified.returncode == 0, verified)
    ok('no approval waits', 'no approvals are pending' in server.glovebox('approvals', 'list'))
    ok('the next server runs code', server.run('python', '6*7')['value'] == '42')
    server.close()
    shutil.rmtree(folder)
    plan()


if len(sys.argv) > 1:
    be_a_client(sys.argv[2], int(sys.argv[3]))
else:
    main()
