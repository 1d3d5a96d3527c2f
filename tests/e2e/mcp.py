#!/usr/bin/env python3
"""'glovebox mcp' at the level of messages: both eras, tools, sessions, input, files, decisions, progress. TAP.

GB_GLOVEBOX is the program."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from mcpclient import MODERN, Server, glovebox
from tap import ok, plan

META = {'_meta': MODERN}
ELICITS = {**MODERN, 'io.modelcontextprotocol/clientCapabilities': {'elicitation': {'form': {}}},
           'io.modelcontextprotocol/clientInfo': {'name': 'modern-test', 'version': '1'}}
WAIVED = 'agent.autoApprove=true'


def text_of(result):
    return result['content'][0]['text']


# --- the protocol

def test_eras():
    server = Server(WAIVED)
    for asked, got in [('2025-06-18', '2025-06-18'), ('2024-11-05', '2024-11-05'), ('1999-01-01', '2025-11-25')]:
        result = server.initialize(version=asked)
        ok(f'initialize with {asked} is answered with {got}', result['protocolVersion'] == got, result)
    found = server.request('server/discover', modern=True)['result']
    ok('discover names the modern version', found['supportedVersions'] == ['2026-07-28'], found)
    ok('a modern result has its type, the server, and how long it may be kept',
       found['resultType'] == 'complete' and found['cacheScope'] == 'private' and found['ttlMs'] > 0 and
       found['_meta']['io.modelcontextprotocol/serverInfo']['name'] == 'glovebox', found)
    legacy, modern = server.request('tools/list')['result'], server.request('tools/list', modern=True)['result']
    ok('both eras are served on one connection', legacy['tools'] == modern['tools'] and len(legacy['tools']) == 7)
    ok('a legacy result has none of the modern members', set(legacy) == {'tools'}, list(legacy))
    ok('a modern list can be kept', 'ttlMs' in modern and modern['resultType'] == 'complete', list(modern))
    first = server.run('python', 'x = 1')
    second = server.tool('execute_code', modern=True, runtime='python', code='x')
    ok('both eras have the same session', second['structuredContent']['value'] == '1' and
       second['structuredContent']['sessionId'] == first['sessionId'], second)
    ok('ping is answered in the legacy era', server.request('ping')['result'] == {})
    cases = [
        ('ping', {'_meta': MODERN}, -32601), ('initialize', {'_meta': MODERN}, -32601),
        ('server/discover', {}, -32602), ('no/such', {}, -32601),
        ('tools/list', {'_meta': {'io.modelcontextprotocol/protocolVersion': '2026-07-28'}}, -32602),
        ('tools/list', {'_meta': {**MODERN, 'io.modelcontextprotocol/protocolVersion': 5}}, -32602),
        ('tools/list', {'_meta': 1}, -32602), ('tools/call', {'name': 'no_such_tool'}, -32602),
        ('tools/call', {}, -32602), ('initialize', {}, -32602), ('prompts/get', {'name': 'x'}, -32602),
        ('tools/list', {'cursor': 'next'}, -32602), ('resources/list', {'cursor': 'next'}, -32602),
        ('prompts/list', {'cursor': 'next'}, -32602), ('resources/templates/list', {'cursor': 'next'}, -32602),
        ('resources/read', {}, -32602), ('resources/read', {'uri': 'file:///etc/passwd'}, -32002),
        ('resources/read', {'uri': 'file:///etc/passwd', '_meta': MODERN}, -32602),
    ]
    for method, params, code in cases:
        error = server.request(method, params).get('error', {})
        ok(f'{method} with {json.dumps(params)[:60]} is error {code}', error.get('code') == code, error)
    error = server.request('tools/list', modern={**MODERN, 'io.modelcontextprotocol/protocolVersion': '2031-01-01'})
    ok('an unsupported version is answered with those that are', error['error']['code'] == -32022 and
       error['error']['data'] == {'supported': ['2026-07-28'], 'requested': '2031-01-01'}, error)
    ok('the end of the input ends the server', server.close() == 0)


def test_invalid_messages():
    server = Server(WAIVED)
    deep = '[' * 100000 + ']' * 100000
    cases = [
        ('no JSON', b'{"jsonrpc"', -32700, None), ('not UTF-8', b'{"a":"\xff"}', -32700, None),
        ('nested too deeply', ('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":%s}}' % deep).encode(),
         -32700, None),
        ('a batch', b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        ('an empty batch', b'[]', -32600, None), ('no object', b'7', -32600, None),
        ('no version', b'{"id":1,"method":"ping"}', -32600, 1),
        ('another version', b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 1),
        ('no method', b'{"jsonrpc":"2.0","id":"a"}', -32600, 'a'),
        ('a method that is no text', b'{"jsonrpc":"2.0","id":"a","method":7}', -32600, 'a'),
        ('an id that is null', b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        ('an id with a fraction', b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
        ('an id that is an object', b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None),
        ('a long id', ('{"jsonrpc":"2.0","id":"%s","method":"ping"}' % ('x' * 600)).encode(), -32600, None),
        ('params that are a list', b'{"jsonrpc":"2.0","id":9,"method":"ping","params":[1]}', -32602, 9),
        ('an id that occurs twice', b'{"jsonrpc":"2.0","id":9,"id":8,"method":"ping"}', -32700, None),
        ('params that occur twice', b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{},"params":{}}', -32700, None),
        ('code that occurs twice', b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"execute_code",'
         b'"arguments":{"runtime":"python","code":"1","code":"2"}}}', -32700, None),
        ('a result and an error', b'{"jsonrpc":"2.0","id":9,"result":{},"error":{}}', -32600, 9),
    ]
    for name, line, code, number in cases:
        server.send_line(line)
        reply = server.wait(lambda message: True)
        ok(f'{name}: error {code}', reply.get('error', {}).get('code') == code and reply['id'] == number, reply)
    server.send_line(b'')
    server.send_line(b' \t\r')
    server.send_line(b'{"jsonrpc":"2.0","method":"notifications/unknown","params":{}}')
    for params in [b'[1]', b'7', b'null', b'{"requestId":{}}', b'{"requestId":"none"}']:
        server.send_line(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":' + params + b'}')
    server.send_line(b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"execute_code"}}')
    server.send_line(b'{"jsonrpc":"2.0","id":"nobody","result":{}}')
    for number in [0, -5, 9007199254740991, 'text', '', '\u00e9\u202e"\\\n']:
        server.send({'id': number, 'method': 'ping'})
        reply = server.wait(lambda message: True)
        ok(f'the id {number!r} comes back as it is, and what needs no reply has none', reply.get('id') == number and
           'result' in reply, reply)
    server.send_line(b'{"jsonrpc":"2.0","id":77,"method":"ping","params":{"$type":"no such","a":{"$type":1}}}')
    ok('names that values use have no meaning in messages', 'result' in server.reply(77))
    long = server.tool('execute_code', runtime='python', code='#' + 'x' * 200000)
    ok('a long message is handled, and long code refused', long['isError'] and 'code' in text_of(long), long)
    server.send_line(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"' + b'x' * (65 << 20) + b'"}}')
    reply = server.wait(lambda message: True)
    ok('a message above the maximum is skipped', reply['id'] is None and reply['error']['code'] == -32600, reply)
    ok('the connection goes on', server.request('ping')['result'] == {})
    number = server.start_tool('execute_code', token='t', runtime='shell', code='echo up; sleep 1000')
    server.progress('t', 'up')
    server.send({'id': number, 'method': 'ping'})
    reply = server.wait(lambda message: 'error' in message)
    ok('an id that is in use is refused, and not with that id', reply['id'] is None and
       reply['error']['code'] == -32600, reply)
    server.send({'method': 'notifications/cancelled', 'params': {'requestId': number}})
    ok('only messages are on the output', all(json.loads(line)['jsonrpc'] == '2.0' for line in server.raw))
    server.close()


def test_disabled():
    server = Server(enabled=False)
    said = server.initialize()['instructions']
    ok('if agents are disabled, the instructions say how the owner enables them', 'agent.enabled' in said, said)
    ok('and there are no tools', server.request('tools/list')['result']['tools'] == [])
    ok('and no prompts', server.request('prompts/list')['result']['prompts'] == [])
    error = server.request('tools/call', {'name': 'execute_code', 'arguments': {'runtime': 'python', 'code': '1'}})
    ok('a call is refused as one of an unknown tool', error['error']['code'] == -32602, error)
    server.close()


def test_comments():
    """Code that is comments alone does nothing, and succeeds."""
    server = Server(WAIVED, 'agent.allowedRuntimes=[javascript, python, shell, node, deno]')
    offered = server.request('tools/list')['result']['tools'][0]['inputSchema']['properties']['runtime']['enum']
    for runtime in offered:
        hash = runtime in ('python', 'shell')
        for code in ['# a comment', '#', '\n# one\n# two \\\n'] if hash else ['// a comment', '/* one\n two */', '//']:
            result = server.tool('execute_code', runtime=runtime, code=code)
            ok(f'{runtime}: {json.dumps(code)} succeeds', not result['isError'] and
               result['structuredContent']['exitCode'] == 0 and result['structuredContent']['stdout'] == '', result)
    if 'deno' in offered:
        result = server.tool('execute_code', runtime='deno', code='1', sessionId='new')
        ok('deno has no sessions', result['isError'] and 'leave sessionId out' in text_of(result), result)
    else:
        ok('deno has no sessions # SKIP deno is not installed', True)
    server.close()


def test_offers():
    server = Server(WAIVED, 'agent.allowedRuntimes=[python, shell, node]', 'programs.node=/no/such/node',
                    'agent.persistentSessions=false')
    tools = {tool['name']: tool for tool in server.request('tools/list')['result']['tools']}
    schema = tools['execute_code']['inputSchema']
    ok('runtimes that are not allowed or not installed are not offered',
       schema['properties']['runtime']['enum'] == ['python', 'shell'], schema)
    ok('without sessions there is one tool', list(tools) == ['execute_code'] and
       'sessionId' not in schema['properties'], list(tools))
    for runtime in ['node', 'javascript', 'cobol']:
        result = server.tool('execute_code', runtime=runtime, code='1')
        ok(f'{runtime} is refused', result['isError'] and 'python, shell' in text_of(result), result)
    result = server.run('python', 'print(1)')
    ok('code runs without a session', result['stdout'] == '1\n' and 'sessionId' not in result, result)
    server.close()


# --- tools

def test_execute():
    server = Server(WAIVED)
    tools = {tool['name']: tool for tool in server.request('tools/list')['result']['tools']}
    ok('the list does not change from call to call', server.request('tools/list')['result']['tools'] ==
       list(tools.values()))
    ok('reading tools say so, others do not', {name for name, tool in tools.items()
                                               if tool['annotations']['readOnlyHint']} ==
       {'list_sessions', 'read_file', 'list_files'})
    result = server.tool('execute_code', runtime='python', code='import sys\nprint("out")\n'
                         'print("err", file=sys.stderr)\n6*7')
    content = result['structuredContent']
    ok('code returns its output and value', content['stdout'] == 'out\n' and content['stderr'] == 'err\n' and
       content['value'] == '42' and content['exitCode'] == 0 and not content['timedOut'] and
       not content['truncated'] and content['duration'] > 0 and not result['isError'], result)
    ok('the text is the structured content', json.loads(text_of(result)) == content, result)
    again = server.run('python', 'x = 1')
    ok('without a session id, calls use one session', again['sessionId'] == content['sessionId'])
    ok('and its variables stay', server.run('python', 'x')['value'] == '1')
    other = server.run('python', '"x" in globals()', sessionId='new')
    ok('"new" is another session', other['value'] in ('False', 'false') and
       other['sessionId'] != content['sessionId'], other)
    ok('which its handle selects', server.run('python', 'y = 2; y', sessionId=other['sessionId'])['value'] == '2')
    failed = server.tool('execute_code', runtime='python', code='1/0')
    ok('an error of the code is a failed call', failed['isError'] and
       failed['structuredContent']['error']['name'] == 'ZeroDivisionError' and
       failed['structuredContent']['exitCode'] == 1, failed)
    ok('TypeScript prints by console', server.run('typescript', 'const a: number = 1; console.log(a, {a}); '
                                                  'console.error("e")')['stdout'] == '1 { a: 1 }\n')
    ok('aliases of runtimes work', server.run('bash', 'echo hi')['stdout'] == 'hi\n')
    for name, arguments, word in [
            ('no code', {'runtime': 'python'}, 'code is missing'), ('empty code', {'runtime': 'python', 'code': ''}, 'empty'),
            ('an unknown argument', {'runtime': 'python', 'code': '1', 'x': 1}, "no argument 'x'"),
            ('a code that is no text', {'runtime': 'python', 'code': 1}, 'must be a string'),
            ('a session that is no handle', {'runtime': 'python', 'code': '1', 'sessionId': 'python-1'}, 'handle'),
            ('an unknown session', {'runtime': 'python', 'code': '1', 'sessionId': 'f' * 32}, 'no session'),
            ('a session of another runtime', {'runtime': 'node', 'code': '1', 'sessionId': other['sessionId']},
             'runs python')]:
        result = server.reply(server.start('tools/call', {'name': 'execute_code', 'arguments': arguments}))['result']
        ok(f'{name} is a result that says so', result['isError'] and word in text_of(result), result)
    result = server.reply(server.start('tools/call', {'name': 'execute_code'}))['result']
    ok('a call without arguments is a result too', result['isError'], result)
    listed = server.tool('list_sessions')['structuredContent']['sessions']
    ok('sessions are listed with their state', len(listed) == 4 and all(
        set(one) >= {'id', 'conversationId', 'runtime', 'state', 'createdAt', 'lastUsedAt', 'executionCount', 'trusted'}
        for one in listed) and {one['runtime'] for one in listed} == {'python', 'typescript', 'shell'}, listed)
    same = server.tool('list_sessions', conversationId=listed[0]['conversationId'])['structuredContent']['sessions']
    ok('also by their conversation', [one['id'] for one in same] == [one['id'] for one in listed])
    ok('no other conversation is listed',
       server.tool('list_sessions', conversationId='x')['structuredContent'] == {'sessions': []})
    killed = server.tool('kill_session', sessionId=other['sessionId'])
    ok('a session is ended', killed['structuredContent'] == {'killed': True, 'sessionId': other['sessionId']}, killed)
    ok('it is ended once', not server.tool('kill_session', sessionId=other['sessionId'])['structuredContent']['killed'])
    gone = server.tool('execute_code', runtime='python', code='1', sessionId=other['sessionId'])
    ok('an ended session is a result that says so', gone['isError'] and 'has ended' in text_of(gone), gone)
    ok('an unknown session cannot be ended', server.tool('kill_session', sessionId='0' * 32)['isError'])
    server.close()


def test_input():
    server = Server(WAIVED)
    asked = server.run('shell', 'read -p "name? " a; echo "hello $a"; read -p "age? " b; echo "$b years"')
    session = asked['sessionId']
    ok('a prompt ends the call', asked['awaitingInput'] == {'prompt': 'name? '} and asked['exitCode'] is None, asked)
    busy = server.tool('execute_code', runtime='shell', code='echo no')
    ok('code behind the prompt is refused', busy['isError'] and 'name? ' in text_of(busy), busy)
    ok('the session is listed with its prompt', [one.get('prompt') for one in
       server.tool('list_sessions')['structuredContent']['sessions']] == ['name? '])
    asked = server.tool('send_input', sessionId=session, text='bob')['structuredContent']
    ok('the answer is typed, and the next prompt returned', 'hello bob\n' in asked['stdout'] and
       asked['awaitingInput'] == {'prompt': 'age? '}, asked)
    done = server.tool('send_input', sessionId=session, text='7\n')['structuredContent']
    ok('the last answer returns the end', done['stdout'].endswith('7 years\n') and done['exitCode'] == 0, done)
    none = server.tool('send_input', sessionId=session, text='more')
    ok('nothing waits any more', none['isError'] and 'waits for input' in text_of(none), none)
    ok('the session goes on', server.run('shell', 'echo $a')['stdout'] == 'bob\n')
    server.run('shell', 'read -p "again? " c')
    ok('a session that waits is ended by its handle',
       server.tool('kill_session', sessionId=session)['structuredContent']['killed'])
    ok('input for it is refused', server.tool('send_input', sessionId=session, text='x')['isError'])
    kinds = [record['type'] for record in server.records() if record.get('status') == 'success']
    ok('input is recorded', kinds.count('code_input') == 2, kinds)
    server.close()


def test_files():
    server = Server(WAIVED)
    for runtime, code in [('python', 'open("made", "w").write("of code")'), ('shell', 'printf "of code" > made'),
                          ('node', 'require("fs").writeFileSync("made", "of code")')]:
        made = server.tool('execute_code', runtime=runtime, code=code)
        session = made['structuredContent']['sessionId']
        ok(f'{runtime}: files that the code has made are in the result',
           made['structuredContent']['files'] == [{'path': 'made', 'bytes': 7}] and
           made['content'][1]['resource']['text'] == 'of code', made)
        wrote = server.tool('write_file', sessionId=session, path='a/b c.bin', content='AAEC/w==', encoding='base64')
        ok(f'{runtime}: a file is written', wrote['structuredContent'] == {'path': 'a/b c.bin', 'bytes': 4}, wrote)
        listed = server.tool('list_files', sessionId=session)['structuredContent']
        ok(f'{runtime}: all files are listed', sorted(one['path'] for one in listed['files']) ==
           ['a/b c.bin', 'made'] and not listed['truncated'], listed)
        read = server.tool('read_file', sessionId=session, path='a/b c.bin')['structuredContent']
        ok(f'{runtime}: bytes are read as they were written', read == {
            'path': 'a/b c.bin', 'content': 'AAEC/w==', 'encoding': 'base64', 'bytes': 4}, read)
        server.tool('write_file', sessionId=session, path='made', content='t\u00e9xt\n')
        read = server.tool('read_file', sessionId=session, path='made')['structuredContent']
        ok(f'{runtime}: text is read as text', read['content'] == 't\u00e9xt\n' and read['encoding'] == 'utf8', read)
        missing = server.tool('read_file', sessionId=session, path='missing')
        ok(f'{runtime}: a file that is not there is a result that says so', missing['isError'], missing)
        for path in ['../x', '/etc/passwd', 'a/../../x', '', '.', 'a//b']:
            refused = server.tool('read_file', sessionId=session, path=path)
            ok(f'{runtime}: the path {path!r} is refused', refused['isError'], refused)
    linked = server.run('shell', 'ln -s /etc/passwd link; ln -s /etc folder; mkfifo pipe; cat link >/dev/null; echo $?')
    for path in ['link', 'folder/passwd', 'pipe']:
        ok(f'{path} is not followed', server.tool('read_file', sessionId=linked['sessionId'], path=path)['isError'])
        ok(f'{path} is not written through', server.tool('write_file', sessionId=linked['sessionId'], path=path,
                                                        content='x')['isError'])
    script = server.run('typescript', '1')
    ok('a runtime without files says so',
       'no files' in text_of(server.tool('list_files', sessionId=script['sessionId'])))
    bad = server.tool('write_file', sessionId=linked['sessionId'], path='x', content='!', encoding='base64')
    ok('content that is not base64 is refused', bad['isError'], bad)
    server.close()


# --- decisions

def test_approvals():
    server = Server('mcp.heartbeat=200ms')
    server.initialize({'elicitation': {}})
    number = server.start_tool('execute_code', token=5, runtime='python', code='print("ran")', purpose='a test')
    said = server.progress(5, 'waiting for approval')['params']['message']
    approval = said.split()[3].rstrip(':')
    ok('a call that waits says how to approve it', f'glovebox approvals show {approval}' in said, said)
    again = server.progress(5, 'waiting for approval')['params']
    ok('it is reported again, with a higher number', again['progress'] > 1, again)
    shown = server.glovebox('approvals', 'show', approval)
    ok('the person sees code, purpose and transport', 'print("ran")' in shown and 'a test' in shown and
       'execute_code (mcp)' in shown, shown)
    ok('the client is not asked, since its word does not count',
       not any(b'elicitation/create' in line for line in server.raw))
    server.glovebox('approvals', 'approve', approval)
    ok('an approved call runs', server.reply(number)['result']['structuredContent']['stdout'] == 'ran\n')
    number = server.start_tool('execute_code', token=6, runtime='python', code='print("no")')
    approval = server.progress(6, 'waiting for approval')['params']['message'].split()[3].rstrip(':')
    server.glovebox('approvals', 'deny', approval, '--reason', 'not today')
    result = server.reply(number)['result']
    ok('a denied call says why', result['isError'] and 'not today' in text_of(result), result)
    number = server.start_tool('execute_code', token=7, runtime='python', code='print("late")')
    server.progress(7, 'waiting for approval')
    server.send({'method': 'notifications/cancelled', 'params': {'requestId': number}})
    ok('a cancelled call has no reply, and the next one has', server.request('ping')['result'] == {})
    number = server.start_tool('write_file', token=8, sessionId=server.tool('list_sessions')['structuredContent']
                               ['sessions'][0]['id'], path='run.sh', content='echo hidden')
    approval = server.progress(8, 'waiting for approval')['params']['message'].split()[3].rstrip(':')
    shown = server.glovebox('approvals', 'show', approval)
    ok('what is written to a file needs approval, and is shown', 'echo hidden' in shown and 'run.sh' in shown, shown)
    server.glovebox('approvals', 'approve', approval)
    ok('then it is written', not server.reply(number)['result']['isError'])
    session = server.tool('list_sessions')['structuredContent']['sessions'][0]['id']
    ok('reading needs none', server.tool('read_file', sessionId=session, path='run.sh')
       ['structuredContent']['content'] == 'echo hidden')
    ok('it is recorded as such', server.records()[-1]['decision'] in ('not_needed', 'user') and
       'not_needed' in [record['decision'] for record in server.records()])
    server.close()


def asked(server):
    return server.wait(lambda message: message.get('method') == 'elicitation/create')


def test_legacy_dialog():
    server = Server('mcp.trustClientApproval=true', 'mcp.heartbeat=200ms')
    server.initialize({'elicitation': {}})
    number = server.start_tool('execute_code', runtime='python', code='print(1) # \u202e', purpose='sum')
    question = asked(server)
    ok('a client whose word counts is asked, with the code', 'print(1)' in question['params']['message'] and
       'sum' in question['params']['message'] and 'decision' in
       question['params']['requestedSchema']['properties'], question)
    ok('characters that hide text are visible', '\u202e' not in question['params']['message'], question)
    server.send({'id': question['id'], 'result': {'action': 'accept', 'content': {'decision': 'approve'}}})
    ok('accepted code runs', server.reply(number)['result']['structuredContent']['stdout'] == '1\n')
    record = server.records()[-1]
    ok('the record names the client', record['decision'] == 'user' and record['approvedBy'] == 'MCP client a-test',
       record)
    for answer in [{'action': 'decline'}, {'action': 'accept', 'content': {'decision': 'deny'}}]:
        number = server.start_tool('execute_code', runtime='python', code='print(2)')
        server.send({'id': asked(server)['id'], 'result': answer})
        result = server.reply(number)['result']
        ok(f'{answer} denies', result['isError'] and 'denied' in text_of(result), result)
    for answer in [{'result': {'action': 'cancel'}}, {'error': {'code': -1, 'message': 'no'}}, {'result': []},
                   {'result': {'action': 'accept', 'content': {}}},
                   {'result': {'action': 'accept', 'content': {'decision': 'APPROVE'}}}]:
        number = server.start_tool('execute_code', token='w', runtime='python', code='print(3)')
        question = asked(server)
        server.send({'id': question['id'], **answer})
        server.send({'id': question['id'], 'result': {'action': 'accept', 'content': {'decision': 'approve'}}})
        server.progress('w', 'waiting for approval')
        server.progress('w', 'waiting for approval')
        ok(f'{json.dumps(answer)} decides nothing, and a second answer does not count',
           'print(3)' in server.glovebox('approvals', 'list'))
        server.send({'method': 'notifications/cancelled', 'params': {'requestId': number}})
    number = server.start_tool('execute_code', runtime='python', code='print(4)')
    server.send({'id': asked(server)['id'], 'result': {'action': 'accept', 'content': {'decision': 'trust'}}})
    server.reply(number)
    ok('a trusted session is not asked about again', server.run('python', 'print(5)')['stdout'] == '5\n')
    number = server.start_tool('execute_code', token='l', runtime='shell', code='echo ' + 'x' * 20000)
    server.progress('l', 'waiting for approval')
    ok('code that is too long for a dialog is not asked about', 'x' * 15000 not in ''.join(
        line.decode() for line in server.raw))
    server.close()


def test_dialog_for_input():
    server = Server('mcp.trustClientApproval=true')
    yes = {'action': 'accept', 'content': {'decision': 'approve'}}

    def call(name, **arguments):
        """Call a tool and answer the dialog; returns what it showed, and the result."""
        params = {'name': name, 'arguments': arguments}
        first = server.request('tools/call', params, modern=ELICITS)['result']
        return first, lambda answer: server.request('tools/call', {
            **params, 'requestState': first['requestState'], 'inputResponses': {'decision': answer}},
            modern=ELICITS)['result']

    _, finish = call('execute_code', runtime='shell', code='read -p "name? " a; echo "<$a>"; read -p "more? " b')
    asked = finish(yes)['structuredContent']
    session = asked['sessionId']
    shown, finish = call('send_input', sessionId=session, text='bob')
    message = shown['inputRequests']['decision']['params']['message']
    ok('the dialog shows the prompt and its answer', 'name? ' in message and 'bob' in message, message)
    result = finish({'action': 'decline'})
    ok('declined input is not typed', result['isError'] and 'denied' in text_of(result), result)
    shown, finish = call('send_input', sessionId=session, text='eve')
    pending = json.loads(server.glovebox('approvals', 'list', '--json').splitlines()[-1])['id']
    server.glovebox('approvals', 'approve', pending)
    result = finish({'action': 'cancel'})
    ok('input that the owner has approved meanwhile is typed', '<eve>' in result['structuredContent']['stdout'] and
       result['structuredContent']['awaitingInput'] == {'prompt': 'more? '}, result)
    server.close()


def test_modern_dialog():
    server = Server('mcp.trustClientApproval=true')

    def call(code, **more):
        return server.request('tools/call', {'name': 'execute_code', 'arguments': {'runtime': 'python', 'code': code},
                                             **more}, modern=ELICITS)

    def answer(result, decision='approve', action='accept'):
        return {'requestState': result['requestState'],
                'inputResponses': {'decision': {'action': action, 'content': {'decision': decision}}}}

    first = call('print(1)')['result']
    ok('a modern client gets a result that asks for input', first['resultType'] == 'input_required' and
       first['inputRequests']['decision']['method'] == 'elicitation/create' and
       'print(1)' in first['inputRequests']['decision']['params']['message'], first)
    done = call('print(1)', **answer(first))['result']
    ok('the repeated call with the answer runs', done['structuredContent']['stdout'] == '1\n' and
       done['resultType'] == 'complete', done)
    used = call('print(1)', **answer(first))
    ok('a state is used once', used['error']['code'] == -32602, used)
    for state in ['', 'x', '0' * 32, first['requestState'][:-1]]:
        error = call('print(1)', requestState=state)
        ok(f'the state {state!r} is refused', error['error']['code'] == -32602, error)
    first = call('print(2)')['result']
    changed = call('print(2); print("more")', **answer(first))['result']
    ok('a changed call is a new request', changed['resultType'] == 'input_required' and
       'more' in changed['inputRequests']['decision']['params']['message'], changed)
    ok('and the old one is withdrawn', call('print(2)', **answer(first))['error']['code'] == -32602)
    denied = call('print(2); print("more")', **answer(changed, action='decline'))['result']
    ok('a declined call is denied', denied['isError'] and 'denied' in text_of(denied), denied)
    first = call('print(3)')['result']
    asked_again = call('print(3)', requestState=first['requestState'])['result']
    ok('a repeated call without the answer is asked again', asked_again['resultType'] == 'input_required' and
       asked_again['requestState'] != first['requestState'], asked_again)
    done = call('print(3)', **answer(asked_again))['result']
    ok('and its answer counts', done['structuredContent']['stdout'] == '3\n', done)
    first = call('print(5)')['result']
    pending = json.loads(server.glovebox('approvals', 'list', '--json').splitlines()[-1])['id']
    server.glovebox('approvals', 'approve', pending)
    done = call('print(5)', **answer(first, action='cancel'))['result']
    ok('a decision of the owner counts while the client asks', done['structuredContent']['stdout'] == '5\n', done)
    number = server.start_tool('execute_code', modern=True, token='n', runtime='python', code='print(4)')
    server.progress('n', 'waiting for approval')
    ok('a client that cannot ask waits for the owner', 'print(4)' in server.glovebox('approvals', 'list'))
    ran = [record['inputCode'] for record in server.records() if record.get('status') == 'success']
    ok('nothing ran without a decision', ran == ['print(1)', 'print(3)', 'print(5)'], ran)
    server.close()


# --- long work

def test_progress():
    server = Server(WAIVED, 'mcp.heartbeat=200ms')
    number = server.start_tool('execute_code', token='p', runtime='python', code='import time\nx = 5\n'
                               'print("one", flush=True)\ntime.sleep(1000)')
    first = server.progress('p', 'one')['params']
    beat = server.progress('p', 'running for')['params']
    ok('output is reported while the code runs, and then that it runs', beat['progress'] != first['progress'], beat)
    server.send({'method': 'notifications/cancelled', 'params': {'requestId': number}})
    ok('a cancelled call is interrupted, and its session stays', server.run('python', 'x')['value'] == '5')
    numbers = [json.loads(line)['params']['progress'] for line in server.raw if b'notifications/progress' in line]
    ok('the numbers rise', numbers == sorted(set(numbers)), numbers)
    ok('a cancelled call has no reply', not any(message.get('id') == number for message in server.kept))
    before = len(server.raw)
    server.run('python', 'print("quiet")')
    ok('without a token nothing is reported', len(server.raw) == before + 1, server.raw[before:])
    number = server.start_tool('execute_code', token='k', runtime='python', code='print("up", flush=True)\n'
                               'while True: pass')
    server.progress('k', 'up')
    session = server.tool('list_sessions')['structuredContent']['sessions'][0]['id']
    server.tool('kill_session', sessionId=session)
    result = server.reply(number)['result']
    ok('a call ends with its session', result['isError'] and result['structuredContent']['exitCode'] is None, result)
    number = server.start_tool('execute_code', token='e', runtime='python', code='print("up", flush=True)\n'
                               'while True: pass')
    server.progress('e', 'up')
    ok('the end of the input ends running code', server.close() == 0)
    server = Server(WAIVED, 'agent.maxExecutionTime=300ms')
    result = server.run('python', 'while True: pass')
    ok('a timeout is reported', result['timedOut'] and result['exitCode'] is None, result)
    result = server.run('python', 'print("x" * 3000000)')
    ok('output above the limit is cut', result['truncated'] and len(result['stdout']) <= 1 << 20)
    server.close()


def test_resources():
    server, other = Server(WAIVED), Server(WAIVED)
    ran = server.run('python', 'print("in a resource")')
    listed = {one['uri'] for one in server.request('resources/list')['result']['resources']}
    output = f"glovebox://sessions/{ran['sessionId']}/output"
    record = next(uri for uri in listed if uri.startswith('glovebox://executions/'))
    ok('the output of a session and its records are resources', listed == {output, record}, listed)
    read = server.request('resources/read', {'uri': output})['result']['contents'][0]
    ok('the output is read', read == {'uri': output, 'mimeType': 'text/plain', 'text': 'in a resource\n'}, read)
    read = json.loads(server.request('resources/read', {'uri': record}, modern=True)['result']['contents'][0]['text'])
    ok('the audit record is read', read['inputCode'] == 'print("in a resource")' and
       read['sessionId'] == ran['sessionId'], read)
    for uri in [output, record]:
        error = other.request('resources/read', {'uri': uri})
        ok('another conversation cannot read ' + uri.split('/')[2], error['error']['code'] == -32002, error)
    stolen = other.tool('execute_code', runtime='python', code='1', sessionId=ran['sessionId'])
    ok('nor use the session', stolen['isError'], stolen)
    ok('nor end it', other.tool('kill_session', sessionId=ran['sessionId'])['isError'])
    templates = server.request('resources/templates/list')['result']['resourceTemplates']
    ok('templates name both kinds', len(templates) == 2, templates)
    prompts = server.request('prompts/list')['result']['prompts']
    said = server.request('prompts/get', {'name': prompts[0]['name']})['result']['messages'][0]['content']['text']
    ok('the prompt has the rules of running code', 'send_input' in said and 'Running code' in said, said)
    server.close()
    other.close()


def test_content():
    server = Server(WAIVED)
    drawn = server.tool('execute_code', runtime='python', code='import matplotlib\nmatplotlib.use("Agg")\n'
                        'import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()')
    if 'error' in drawn['structuredContent']:
        ok('a figure is an image # SKIP matplotlib is not installed', True)
    else:
        images = [part for part in drawn['content'] if part['type'] == 'image']
        ok('a figure is an image', len(images) == 1 and images[0]['mimeType'] == 'image/png' and
           images[0]['data'].startswith('iVBOR'), [part['type'] for part in drawn['content']])
    many = server.tool('execute_code', runtime='python', sessionId='new',
                       code='open("big", "w").write("x" * 300000)\nopen("small", "w").write("y")')
    parts = [part['resource']['uri'].rsplit('/', 1)[1] for part in many['content'] if part['type'] == 'resource']
    ok('a file above the limit is named and not embedded', parts == ['small'] and
       len(many['structuredContent']['files']) == 2, parts)
    server.close()


def print_secret(server, secret):
    """Print a secret one byte at a time and write it to a file; returns everything that a client can get to see of it: the
    texts of results, reports of progress one after the other, and resources. The server ends."""
    half = len(secret) // 2
    code = f'import time, sys\nsecret = "{secret[:half]}" + "{secret[half:]}"\nfor c in secret:\n    sys.stdout.write(c)\n' \
           '    sys.stdout.flush()\n    time.sleep(0.002)\nprint()\nfor c in secret:\n    sys.stderr.write(c)\n' \
           '    sys.stderr.flush()\nopen("f", "w").write(secret)\nsecret'
    texts = []
    for token in ('s', None):
        result = server.tool('execute_code', token=token, runtime='python', code=code)
        texts.append(result['structuredContent']['stdout'])
    texts.append(server.tool('read_file', sessionId=result['structuredContent']['sessionId'], path='f')['content'][0]['text'])
    for resource in server.request('resources/list')['result']['resources']:
        texts.append(server.request('resources/read', {'uri': resource['uri']})['result']['contents'][0]['text'])
    reports = [json.loads(line)['params'].get('message', '') for line in server.raw if b'notifications/progress' in line]
    texts.append(''.join(reports))
    texts += [line.decode() for line in server.raw]
    server.close()
    return texts, reports


def test_secrets():
    secret = 'QX' + 'QWERTYUIOPASDFGHJK'
    texts, reports = print_secret(Server('secrets.patterns=["QX[A-Z]{18}"]', WAIVED), secret)
    ok('a secret printed one byte at a time is in no message, no resource, and not in reports of progress together',
       not any(secret in text for text in texts) and '***' in texts[0], [text for text in texts if secret in text])
    ok('nor is half of it', not any(secret[:9] in text or secret[-9:] in text for text in texts + reports
                                    if 'import time' not in text), reports)
    texts, reports = print_secret(Server(WAIVED), secret)
    ok('without the pattern it is in the result, the file, a resource and the reports together',
       sum(secret in text for text in texts) >= 5 and secret in ''.join(reports), texts[:6])


def test_install():
    home = tempfile.mkdtemp()
    environment = {**os.environ, 'HOME': home, 'XDG_CONFIG_HOME': home}

    def install(*arguments):
        """Exit status and output of 'mcp install'."""
        done = subprocess.run([glovebox, 'mcp', 'install', *arguments], env=environment, cwd=home, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def read(name):
        with open(os.path.join(home, name)) as file:
            return file.read()

    def write(name, text):
        with open(os.path.join(home, name), 'w') as file:
            file.write(text)

    files = {'claude-code': ('.claude.json', 'mcpServers'), 'cursor': ('.cursor/mcp.json', 'mcpServers'),
             'claude-desktop': ('.config/Claude/claude_desktop_config.json', 'mcpServers'),
             'gemini': ('.gemini/settings.json', 'mcpServers'), 'vscode': ('.vscode/mcp.json', 'servers')}
    for client, (name, key) in files.items():
        status, said = install('--client', client)
        ok(f'{client}: the change is shown and not written without confirmation', status == 0 and '"glovebox"' in said and
           not os.path.exists(os.path.join(home, name)), said)
        status, said = install('--client', client, '--yes', '--set', 'agent.enabled=true')
        entry = json.loads(read(name))[key]['glovebox']
        ok(f'{client}: it is written', status == 0 and entry['args'] == ['mcp', '--set', 'agent.enabled=true'] and
           os.path.samefile(entry['command'], glovebox), said, entry)
        before = read(name)
        ok(f'{client}: it is written once', install('--client', client, '--yes', '--set', 'agent.enabled=true')[0] == 0 and
           read(name) == before)
        ok(f'{client}: another entry is not replaced', install('--client', client, '--yes')[0] == 3 and
           read(name) == before)
    for text in ['{}', '{"a":[1,{"mcpServers":{}}]}', '{\n  "x\\"mcpServers": {},\n  "mcpServers": {}\n}',
                 '{"mcpServers":{"a":{"command":"mcpServers"}},"z":"}{"}']:
        write('some.json', text)
        os.chmod(os.path.join(home, 'some.json'), 0o640)
        status, said = install('--client', 'cursor', '--file', 'some.json', '--yes')
        after, expected = json.loads(read('some.json')), json.loads(text)
        mine = after.get('mcpServers', {}).pop('glovebox', None)
        if 'mcpServers' not in expected:
            after.pop('mcpServers', None)
        ok(f'{text!r} keeps what it had, and its mode', status == 0 and mine and after == expected and
           os.stat(os.path.join(home, 'some.json')).st_mode & 0o777 == 0o640, said, read('some.json'))
    for text in ['// comment\n{}', '[]', '{"mcpServers":[]}', '{"\\u006dcpServers":{}}', 'x']:
        write('some.json', text)
        status, said = install('--client', 'cursor', '--file', 'some.json', '--yes')
        ok(f'{text!r} is left alone', status == 3 and read('some.json') == text and '--print' in said, said)
    os.symlink('some.json', os.path.join(home, 'link.json'))
    write('some.json', '{}')
    install('--client', 'cursor', '--file', 'link.json', '--yes')
    ok('a link stays, and the file that it leads to is changed', os.path.islink(os.path.join(home, 'link.json')) and
       'glovebox' in read('some.json'))
    shutil.rmtree(os.path.join(home, '.vscode'))
    write('target.json', '{}')
    os.mkdir(os.path.join(home, '.vscode'))
    os.symlink('../target.json', os.path.join(home, '.vscode/mcp.json'))
    refused = install('--client', 'vscode', '--yes')
    ok('a link in the working directory is not followed', refused[0] == 3 and read('target.json') == '{}', refused)
    ok('unless it is named', install('--client', 'vscode', '--yes', '--file', '.vscode/mcp.json')[0] == 0 and
       'glovebox' in read('target.json'))
    shutil.rmtree(os.path.join(home, '.vscode'))
    os.mkdir(os.path.join(home, 'other'))
    os.symlink('other', os.path.join(home, '.vscode'))
    ok('nor is a folder that is a link', install('--client', 'vscode', '--yes')[0] == 3 and
       os.listdir(os.path.join(home, 'other')) == [])
    ok('--print prints the entry', 'mcpServers' in json.loads(install('--print', '--set', 'agent.enabled=true')[1]))
    ok('an unknown client is a usage error', install('--client', 'no-such')[0] == 2)
    ok('a client is needed', install()[0] == 2)
    shutil.rmtree(home)


for test in [test_eras, test_invalid_messages, test_disabled, test_comments, test_offers, test_execute, test_input, test_files,
             test_approvals, test_legacy_dialog, test_dialog_for_input,
             test_modern_dialog, test_progress, test_resources, test_content,
             test_secrets, test_install]:
    if len(sys.argv) < 2 or sys.argv[1] in test.__name__:
        test()
plan()
