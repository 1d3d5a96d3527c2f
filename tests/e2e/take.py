#!/usr/bin/env python3
"""Files that a run is asked for ('take'), over 'glovebox stdio'. TAP. GB_GLOVEBOX is the program."""
import base64
import json
import os
import subprocess

from tap import ok, plan

process = subprocess.Popen([os.environ['GB_GLOVEBOX'], 'stdio'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL)
number = 0


def send(message, key, kinds):
    process.stdin.write(json.dumps(message).encode() + b'\n')
    process.stdin.flush()
    while True:
        reply = json.loads(process.stdout.readline())
        if reply.get('type') in kinds and reply.get(key) == message[key]:
            return reply


def run(source, session, language=None, **options):
    """The result of a run, or the error message."""
    global number
    number += 1
    message = {'type': 'run', 'run': number, 'source': source, 'options': options}
    if session:
        message['session'] = session
    else:
        options['language'] = language
    return send(message, 'run', ('result', 'error'))


def content(result, path):
    file = result['result'].get('files', {}).get(path)
    return file and base64.b64decode(file['data'])


for language, code in [('python', 'open("a", "w").write("1")'), ('shell', 'printf 1 > a'),
                       ('node', 'require("fs").writeFileSync("a", "1")')]:
    opened = send({'type': 'session_open', 'request': 1, 'language': language}, 'request', ('session', 'error'))
    session = opened['session']['id']
    ok(f'{language}: a file that has changed is returned', content(run(code, session), 'a') == b'1')
    ok(f'{language}: and not again', 'files' not in run('', session)['result'])
    ok(f'{language}: unless it is taken', content(run('', session, take=['a']), 'a') == b'1')
    listed = content(run('', session, take=['.'], files={'b/c': 'text'}), '.')
    ok(f'{language}: the list has all files', sorted(listed.decode().splitlines()) == ['1 a', '4 b/c'], listed)
    ok(f'{language}: a file that is not there is left out', 'files' not in run('', session, take=['no'])['result'])
    missing = run('', session, take=['no', 'a', 'b', '.'])
    ok(f'{language}: so is a folder', sorted(missing['result']['files']) == ['.', 'a'], missing)
for bad in ['..', '../a', '/a', '', 'a/', './a', 'a//b']:
    error = run('', None, 'python', take=[bad])
    ok(f'the path {bad!r} is refused', error['type'] == 'error' and error['field'] == 'options.take', error)
ok('at most 64 paths', run('', None, 'python', take=['a'] * 65)['type'] == 'error')
ok('JavaScript has no files to take', run('1', None, 'javascript', take=['a'])['type'] == 'error')
big = run('open("big", "w").write("x" * 3000000)', None, 'python', take=['big', '.'])
ok('a file that has changed and is taken is returned once', len(content(big, 'big')) == 3000000 and
   content(big, '.') == b'3000000 big\n', big['result'].get('error'))
process.stdin.close()
process.wait()
plan()
