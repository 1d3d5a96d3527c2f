/* Runs in any language, with all fields of the result. */
import { strict as assert } from 'node:assert';
import { after, test } from 'node:test';
import { Glovebox, run, SerializationError } from 'glovebox';
import { fakeServer, FOREVER } from './helpers.mjs';

const glovebox = new Glovebox();
after(() => glovebox.close());

test('the result of run has every field', async () => {
  const result = await run('import sys; print("out"); print("err", file=sys.stderr); 6 * 7', { language: 'python' });
  const { durationMs, memoryUsedBytes, runId, ...rest } = result;
  assert.deepEqual(rest, {
    status: 'success',
    result: 42,
    reports: [],
    logs: [],
    stdout: 'out\n',
    stderr: 'err\n',
    exitCode: 0,
    timedOut: false,
    truncated: false,
  });
  // Unknown in a build with a sanitizer.
  assert.ok(durationMs > 0 && (memoryUsedBytes === undefined || memoryUsedBytes > 0));
  assert.match(runId, /^[0-9a-f]{32}$/);
});

test('run passes files in, and returns created files as bytes', async () => {
  const source = 'open("b", "wb").write(open("a", "rb").read() + b"\\xff")';
  const { files } = await glovebox.run(source, { language: 'python', files: { a: new Uint8Array([1, 2]) } });
  assert.deepEqual(files, { b: new Uint8Array([1, 2, 255]) });
});

test('run returns exit codes and error codes', async () => {
  const { status, exitCode, error } = await glovebox.run('exit 3', { language: 'shell' });
  assert.equal(status, 'error');
  assert.equal(exitCode, 3);
  assert.equal(error.code, 'exit_code');
});

test('run passes standard input and arguments, and streams output', async () => {
  const heard = [];
  const { stdout } = await glovebox.run('read line; echo "$line $1"', {
    language: 'shell',
    stdin: 'a\n',
    execute: { args: ['b'] },
    onOutput: (text, stream) => heard.push([stream, text]),
  });
  assert.equal(stdout, 'a b\n');
  assert.deepEqual(heard.map(([stream]) => stream), heard.map(() => 'stdout'));
  assert.equal(heard.map(([, text]) => text).join(''), stdout);
});

test('limits of run override the limits of its Glovebox', async () => {
  const client = new Glovebox({ limits: { timeoutMs: 3_600_000, outputBytes: 1000 } });
  const { status, timedOut, error } = await client.run(FOREVER, { timeoutMs: 50 });
  assert.equal(status, 'terminated');
  assert.equal(timedOut, true);
  assert.equal(error.code, 'timeout');
  const loud = await client.run('for (let i = 0; i < 100; i++) console.log("x".repeat(100))');
  assert.equal(loud.truncated, true);
  await client.close();
});

test('run takes host functions like runCode', async () => {
  const { result, reports } = await glovebox.run('report(1); export const f = (n: number) => twice(n)', {
    execute: { fn: 'f', args: [4] },
    globals: { twice: (n) => n * 2 },
    report: () => {},
  });
  assert.equal(result, 8);
  assert.deepEqual(reports, [1]);
});

test('run takes aliases of languages', async () => {
  assert.equal((await glovebox.run('echo x', { language: 'bash' })).stdout, 'x\n');
  assert.equal((await glovebox.run('6 * 7', { language: 'py' })).result, 42);
});

test('run names an unknown option', () => {
  assert.throws(() => glovebox.run('', { timeout: 1 }), { name: 'TypeError', message: /^options\.timeout: / });
  assert.throws(() => glovebox.run('', { reset: true }), { name: 'TypeError', message: /^options\.reset: / });
  assert.throws(() => glovebox.run('', { language: 'cobol' }), { name: 'TypeError', message: /^options\.language: / });
  assert.throws(() => glovebox.run('', { globals: { a: new WeakMap() } }), SerializationError);
});

for (const option of ['profile', 'stdin', 'files', 'timeoutMs', 'onOutput', 'reset', 'restricted', 'limits']) {
  test(`runCode has no option ${option}`, () => {
    const named = { name: 'TypeError', message: new RegExp(`^options\\.${option}: `) };
    assert.throws(() => glovebox.runCode('', { [option]: undefined }), named);
  });
}

const denied = { status: 'denied', error: { name: 'WallError', message: 'landlock: no', code: 'wall' } };
const denies = JSON.stringify([[{ type: 'result', result: denied }]]);

test('a denied run is a result of run, and a rejection of runCode', async () => {
  const client = new Glovebox({ command: [process.execPath, fakeServer] });
  const { status, error } = await client.run(denies);
  assert.equal(status, 'denied');
  assert.equal(error.code, 'wall');
  await assert.rejects(async () => client.runCode(denies), { name: 'GloveboxError', code: 'wall', message: 'landlock: no' });
  await client.close();
});
