#!/usr/bin/python3
"""Processes that use code.execute and code.sandbox, killed at random moments: no process, control group or file is left. TAP.

GB_GLOVEBOX is the program. GB_MANY_KILLS processes are killed; GB_SOAK_SEED repeats the choices, not the timing."""
import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'sdk/python'))
sys.path.insert(0, str(Path(__file__).parent))
from tap import ok, plan

kills = int(os.environ.get('GB_MANY_KILLS', 12))
seed = int(os.environ.get('GB_SOAK_SEED', time.time_ns() % 1000000))
CODES = {
    'python': ['sum(range(1000))', 'while True: pass', 'x = [0] * 10 ** 6'],
    'javascript': ['1 + 1', 'for (;;) {}'],
    'bash': ['echo a', 'sleep 100', '(sleep 100 &) ; sleep 100', 'while :; do :; done'],
}


def be_a_process(number):
    """Four threads call the actions until the process is killed."""
    from glovebox.actions import register_actions

    class Engine:
        _enable_code_execution = True

    engine, registry = Engine(), {}
    register_actions(registry, engine)

    def work(thread):
        choices = random.Random(seed + number * 100 + thread)
        while True:
            language = choices.choice(list(CODES))
            code = choices.choice(CODES[language])
            given = {'code': code, 'timeout': choices.choice([0.1, 60]), 'allow_filesystem': True}
            if choices.random() < 0.5:
                registry['code.execute'](state={}, language=language, **given)
                continue
            made = registry['code.sandbox'](state={}, action='create', language=language)
            registry['code.sandbox'](state={}, action='execute', sandbox_id=made['sandbox_id'], **given)
            if choices.random() < 0.5:
                registry['code.sandbox'](state={}, action='destroy', sandbox_id=made['sandbox_id'])

    assert registry['code.execute'](state={}, code='1')['success']
    os.write(1, b'up\n')
    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def wait_for_all():
    """Wait until no process is left that a killed one has started: all of them become children of this process. Their ids;
    None after a minute."""
    def give_up(*_):
        raise TimeoutError
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(60)
    ids = []
    try:
        while True:
            ids.append(os.waitpid(-1, 0)[0])
    except ChildProcessError:
        return ids
    except TimeoutError:
        return None
    finally:
        signal.alarm(0)


def groups_of(ids):
    """The control groups that these processes have made, at any depth."""
    return [os.path.join(where, name) for where, names, _ in os.walk('/sys/fs/cgroup') for name in names
            if name.startswith('glovebox.') and int(name.split('.')[1]) in ids]


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(where, name), folder)
                  for where, _, names in os.walk(folder) for name in names if name != 'stderr')


def main():
    assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER
    choices = random.Random(seed)
    folder = tempfile.mkdtemp()
    for name in ('tmp', 'state'):
        os.mkdir(os.path.join(folder, name))
    kept = {name: value for name, value in os.environ.items() if not name.startswith('GLOVEBOX_')}
    env = {**kept, 'HOME': folder, 'TMPDIR': folder + '/tmp', 'GLOVEBOX_STATE_DIR': folder + '/state',
           'GLOVEBOX_PATH': os.path.abspath(os.environ['GB_GLOVEBOX']), 'GB_SOAK_SEED': str(seed)}
    shared_memory = set(os.listdir('/dev/shm'))
    before, slowest, late, n_up, left, every = None, 0.0, 0, 0, 0, set()
    for number in range(kills + 1):
        process = subprocess.Popen([sys.executable, __file__, 'process', str(number)], stdout=subprocess.PIPE, env=env)
        # The first one shows which files a state folder has.
        if before is None or choices.random() < 0.9:
            n_up += process.stdout.readline() == b'up\n'
        time.sleep(choices.random() * 0.5)  # the moment of the kill is random; nothing is waited for
        process.kill()
        began = time.monotonic()
        ids = wait_for_all()
        took = time.monotonic() - began
        process.stdout.close()
        process.returncode = -9
        left += ids is None
        every.update(ids or [])
        if before is None:
            before = files_below(folder)
        slowest, late = max(slowest, took), late + (took > 1)
    print(f'# {kills} processes killed (seed {seed}); after {slowest * 1000:.0f} ms at most nothing was left, and {late} '
          f'times after more than a second')
    ok('no process is left', left == 0, left)
    ok('most processes were at work', n_up > kills / 2, n_up)
    groups = groups_of(every)
    ok('no control group is left', not groups, groups)
    ok('no file is left', files_below(folder) == before, before, files_below(folder))
    ok('nothing is left in shared memory', not {name for name in os.listdir('/dev/shm') if 'glovebox' in name} - shared_memory)
    verified = subprocess.run([env['GLOVEBOX_PATH'], 'audit', 'verify'], stdout=subprocess.PIPE, env=env, check=False)
    ok('the record is whole', verified.returncode == 0, verified)
    shutil.rmtree(folder)
    plan()


if len(sys.argv) > 1:
    be_a_process(int(sys.argv[2]))
else:
    main()
