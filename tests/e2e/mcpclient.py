"""A client of 'glovebox mcp' for tests: sends and receives messages as they are."""
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading

glovebox = os.environ['GB_GLOVEBOX']
MODERN = {'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {}}


class Server:
    """The program, with a state folder of its own. Every reply is waited for; the test has a time limit as a whole."""

    def __init__(self, *settings, enabled=True, state=None, environment={}):
        self.folder = state or tempfile.mkdtemp()
        self.owns_folder = not state
        command = [glovebox, 'mcp', '--set', 'stateDir=' + self.folder + '/state',
                   '--set', 'agent.enabled=%s' % str(enabled).lower()]
        for setting in settings:
            command += ['--set', setting]
        self.environment = {**os.environ, 'HOME': self.folder, 'XDG_CONFIG_HOME': self.folder, **environment}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=open(self.folder + '/stderr', 'w'), env=self.environment, cwd=self.folder)
        self.raw = []  # every line of stdout
        self.arrived = queue.Queue()
        self.kept = []  # messages that were received while another one was awaited
        self.last_id = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.raw.append(line)
            try:
                self.arrived.put(json.loads(line))
            except ValueError:
                self.arrived.put({'invalid': line})
        self.arrived.put(None)

    def send_line(self, line):
        self.process.stdin.write(line if isinstance(line, bytes) else line.encode())
        self.process.stdin.write(b'\n')
        self.process.stdin.flush()

    def send(self, message):
        self.send_line(json.dumps({'jsonrpc': '2.0', **message}))

    def wait(self, matches):
        """The first message that matches, in the order of arrival."""
        for i, message in enumerate(self.kept):
            if matches(message):
                return self.kept.pop(i)
        while True:
            message = self.arrived.get()
            if message is None:
                self.arrived.put(None)
                raise EOFError('the server has ended')
            if matches(message):
                return message
            self.kept.append(message)

    def start(self, method, params=None, modern=False, token=None):
        """Send a request; returns its id."""
        self.last_id += 1
        params = dict(params or {})
        meta = dict(MODERN) if modern is True else dict(modern or {})
        if token is not None:
            meta['progressToken'] = token
        if meta:
            params['_meta'] = meta
        self.send({'id': self.last_id, 'method': method, 'params': params})
        return self.last_id

    def reply(self, number):
        return self.wait(lambda message: message.get('id') == number and 'method' not in message)

    def request(self, method, params=None, modern=False, token=None):
        return self.reply(self.start(method, params, modern, token))

    def start_tool(self, name, modern=False, token=None, **arguments):
        return self.start('tools/call', {'name': name, 'arguments': arguments}, modern, token)

    def tool(self, name, modern=False, token=None, **arguments):
        """The result of a call."""
        return self.reply(self.start_tool(name, modern, token, **arguments))['result']

    def run(self, runtime, code, **arguments):
        """The structured content of execute_code."""
        result = self.tool('execute_code', runtime=runtime, code=code, **arguments)
        return result.get('structuredContent', result)

    def initialize(self, capabilities={}, version='2025-11-25', name='a-test'):
        reply = self.request('initialize', {'protocolVersion': version, 'capabilities': capabilities,
                                            'clientInfo': {'name': name, 'version': '1'}})
        self.send({'method': 'notifications/initialized'})
        return reply['result']

    def progress(self, token, contains=''):
        return self.wait(lambda message: message.get('method') == 'notifications/progress' and
                         message['params']['progressToken'] == token and
                         contains in message['params'].get('message', ''))

    def glovebox(self, *arguments):
        """Run another command with the same state; returns its output."""
        return subprocess.run([glovebox, *arguments, '--set', 'stateDir=' + self.folder + '/state'],
                              env=self.environment, cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True).stdout

    def records(self):
        """The audit records, oldest first."""
        lines = self.glovebox('audit', 'export').splitlines()
        return sorted((json.loads(line) for line in lines if line), key=lambda record: record['seq'])

    def close(self):
        """End the input; returns the exit status."""
        self.process.stdin.close()
        status = self.process.wait()
        if status:
            print('#', open(self.folder + '/stderr').read()[-3000:])
        if self.owns_folder:
            shutil.rmtree(self.folder)
        return status
