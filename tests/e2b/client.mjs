// The server that stands for E2B in the tests of glovebox.actions, checked by E2B's own client, unmodified: what the server
// answers is what the client expects of the cloud. TAP. Needs GB_E2B_MODULES: the folder with @e2b/code-interpreter.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

const { Sandbox, NotFoundError, AuthenticationError, TimeoutError } = await import(
  pathToFileURL(`${process.env.GB_E2B_MODULES}/@e2b/code-interpreter/dist/index.mjs`).href
);
const server = spawn('/usr/bin/python3', [fileURLToPath(new URL('../../sdk/python/tests/e2b_server.py', import.meta.url))], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const [line] = await once(createInterface({ input: server.stdout }), 'line');
const { url, key } = JSON.parse(line);
const options = { apiKey: key, apiUrl: url, sandboxUrl: url, retries: 0 };

const tests = [];
const test = (name, run) => tests.push([name, run]);

test('create, run code, kill', async () => {
  const sandbox = await Sandbox.create(options);
  assert.equal(await sandbox.isRunning(), true);
  const execution = await sandbox.runCode('print("out"); x = 41; x + 1');
  assert.equal(execution.text, '42');
  assert.equal(execution.logs.stdout.join(''), 'out\n');
  assert.equal(execution.error, undefined);
  assert.equal(await sandbox.kill(), true);
  assert.equal(await sandbox.isRunning(), false);
  assert.equal(await Sandbox.kill(sandbox.sandboxId, options), false);
});

test('streams arrive in pieces, and errors have name, value and traceback', async () => {
  const sandbox = await Sandbox.create(options);
  const heard = [];
  const execution = await sandbox.runCode('import sys\nprint(1)\nprint(2, file=sys.stderr)\nraise ValueError("no")', {
    onStdout: (message) => heard.push(['out', message.line]),
    onStderr: (message) => heard.push(['err', message.line]),
    onError: (error) => heard.push(['error', error.name]),
  });
  assert.deepEqual(
    heard.filter(([, text]) => text !== '\n').map(([stream, text]) => [stream, text.trim()]),
    [['out', '1'], ['err', '2'], ['error', 'ValueError']],
  );
  assert.equal(execution.error.value, 'no');
  assert.match(execution.error.traceback, /ValueError: no/);
  await sandbox.kill();
});

test('contexts keep variables apart, are listed, started again and removed', async () => {
  const sandbox = await Sandbox.create(options);
  const context = await sandbox.createCodeContext({ language: 'python' });
  await sandbox.runCode('x = 1', { context });
  assert.equal((await sandbox.runCode('x', { context })).text, '1');
  assert.equal((await sandbox.runCode('x')).error.name, 'NameError');
  assert.ok((await sandbox.listCodeContexts()).some(({ id }) => id === context.id));
  await sandbox.restartCodeContext(context);
  assert.equal((await sandbox.runCode('x', { context })).error.name, 'NameError');
  await sandbox.removeCodeContext(context);
  await assert.rejects(sandbox.runCode('x', { context }), NotFoundError);
  await sandbox.kill();
});

test('JavaScript and bash', async () => {
  const sandbox = await Sandbox.create(options);
  const script = await sandbox.runCode('console.log("a"); [1, 2]', { language: 'javascript' });
  assert.deepEqual(script.results[0].json, [1, 2]);
  assert.equal(script.logs.stdout.join(''), 'a\n');
  assert.equal((await sandbox.runCode('echo b', { language: 'bash' })).logs.stdout.join(''), 'b\n');
  await sandbox.kill();
});

test('a time limit of the client, and a sandbox that has ended', async () => {
  const sandbox = await Sandbox.create(options);
  await assert.rejects(sandbox.runCode('while True: pass', { timeoutMs: 300 }), TimeoutError);
  await sandbox.kill();
  await assert.rejects(sandbox.runCode('1'), TimeoutError);
});

test('connect, information, longer life', async () => {
  const sandbox = await Sandbox.create({ ...options, metadata: { of: 'test' } });
  await sandbox.setTimeout(60_000);
  const info = await sandbox.getInfo();
  assert.deepEqual([info.sandboxId, info.metadata], [sandbox.sandboxId, { of: 'test' }]);
  await sandbox.kill();
});

test('a wrong key is refused', async () => {
  await assert.rejects(Sandbox.create({ ...options, apiKey: `e2b_${'f'.repeat(40)}` }), AuthenticationError);
});

let failed = 0;
for (const [index, [name, run]] of tests.entries()) {
  try {
    await run();
    console.log(`ok ${index + 1} - ${name}`);
  } catch (error) {
    failed++;
    console.log(`# ${String(error.stack).replaceAll('\n', '\n# ')}\nnot ok ${index + 1} - ${name}`);
  }
}
console.log(`1..${tests.length}`);
server.stdin.end();
await once(server, 'exit');
process.exit(failed ? 1 : 0);
