/* Sessions: definitions, streamed output, ends. */
import { strict as assert } from 'node:assert';
import { after, test } from 'node:test';
import { Glovebox, GloveboxError, SerializationError } from 'glovebox';
import { until } from './helpers.mjs';

const glovebox = new Glovebox();
after(() => glovebox.close());

const valueIn = async (session, source, options) => {
  const result = await session.execute(source, options);
  assert.equal(result.status, 'success', `${result.error?.name}: ${result.error?.message}`);
  return result.result;
};

test('definitions of a run are visible to the next run', async () => {
  const session = await glovebox.openSession({ name: 'ts' });
  assert.match(session.id, /^[0-9a-f]{32}$/);
  await valueIn(session, 'let x: number = 20; const f = (n: number) => n * 2');
  assert.equal(await valueIn(session, 'f(x) + 2'), 42);
  await valueIn(session, 'let x = 1');
  assert.equal(await valueIn(session, 'x'), 1);
  assert.equal((await session.info()).executionCount, 4);
  await session.kill();
});

test('two sessions share nothing', async () => {
  const [a, b] = await Promise.all([glovebox.openSession(), glovebox.openSession()]);
  await valueIn(a, 'var x = 1');
  assert.equal(await valueIn(b, 'typeof x'), 'undefined');
  await Promise.all([a.kill(), b.kill()]);
});

test('Python, with streamed output', async () => {
  const session = await glovebox.openSession({ language: 'python' });
  const heard = [];
  await valueIn(session, 'import sys\nx = 41');
  const result = await session.execute('print("hé")\nprint("e", file=sys.stderr)\nx + 1', {
    onOutput: (text, stream) => heard.push([stream, text]),
  });
  assert.equal(result.result, 42);
  assert.equal(result.stdout, 'hé\n');
  assert.equal(result.stderr, 'e\n');
  assert.equal(result.exitCode, 0);
  assert.deepEqual(heard.flatMap(([stream, text]) => (stream === 'stdout' ? [text] : [])).join(''), 'hé\n');
  assert.equal(await valueIn(session, 'input() + open("f").read()', { stdin: 'a\n', files: { f: 'b' } }), 'ab');
  await session.kill();
});

test('functions of the host, and of the session', async () => {
  const session = await glovebox.openSession({ language: 'javascript' });
  assert.equal(await valueIn(session, 'twice(21)', { globals: { twice: (n) => n * 2 } }), 42);
  await valueIn(session, 'function add(a, b) { return a + b }');
  assert.equal(await valueIn(session, '', { execute: { fn: 'add', args: [1, 2] } }), 3);
  assert.equal(await valueIn(session, 'import { one } from "m"; one', { imports: { m: { one: 1 } } }), 1);
  await session.kill();
});

test('one object in the options of a run is one object in the session', async () => {
  const session = await glovebox.openSession({ language: 'javascript' });
  await valueIn(session, 'function same(x, y) { return [x === y, x === given, y.self === y] }');
  const given = { list: [1] };
  given.self = given;
  const options = { execute: { fn: 'same', args: [given, given] }, globals: { given } };
  assert.deepEqual(await valueIn(session, '', options), [true, true, true]);
  await session.kill();
});

test('a run that exceeds its time limit is interrupted, and the session continues', async () => {
  const session = await glovebox.openSession({ language: 'javascript' });
  await valueIn(session, 'var x = 7');
  const result = await session.execute('for (;;);', { timeoutMs: 200 });
  assert.equal(result.status, 'terminated');
  assert.equal(result.timedOut, true);
  assert.equal(await valueIn(session, 'x'), 7);
  assert.equal(await valueIn(session, 'typeof x', { reset: true }), 'undefined');
  await session.kill();
});

test('runs are queued in order; a queued run can be removed, a running one interrupted', async () => {
  const session = await glovebox.openSession({ language: 'javascript' });
  await session.execute('var n = 1');
  const loop = session.execute('for (;;);');
  const withdrawn = session.execute('n = 2');
  const last = session.execute('n');
  withdrawn.terminate('no need');
  assert.equal((await withdrawn).error.message, 'no need');
  assert.equal((await session.info()).state, 'executing');
  loop.interrupt();
  assert.equal((await loop).error.code, 'interrupted');
  assert.equal((await last).result, 1);
  await session.kill();
});

test('kill ends the run of a session, and the session stays listed', async () => {
  const session = await glovebox.openSession({ conversation: 'killed' });
  const loop = session.execute('for (;;);');
  const info = await session.kill('enough');
  assert.equal(info.state, 'terminated');
  assert.equal(info.reason, 'enough');
  assert.equal((await loop).error.message, 'enough');
  assert.deepEqual((await glovebox.sessions('killed')).map(({ reason }) => reason), ['enough']);
  await assert.rejects(async () => session.execute('1'), { name: 'GloveboxError', code: 'invalid' });
});

test('conversations', async () => {
  const first = await glovebox.openSession({ conversation: 'c', reuse: true });
  const same = await glovebox.openSession({ conversation: 'c', reuse: true });
  assert.equal(first.id, same.id);
  const info = await first.update({ trusted: true, addTokens: 12 });
  assert.equal(info.trusted, true);
  assert.equal(info.totalTokens, 12);
  for (let i = 0; i < 4; i++) await glovebox.openSession({ conversation: 'c' });
  await assert.rejects(glovebox.openSession({ conversation: 'c' }), { code: 'refused' });
  assert.equal(await glovebox.cleanup('c'), 5);
});

test('errors name the invalid option or session', async () => {
  await assert.rejects(glovebox.openSession({ language: 'cobol' }), { code: 'invalid', field: 'language' });
  await assert.rejects(glovebox.openSession({ nmae: 'x' }), TypeError);
  const session = await glovebox.openSession({ name: 'wrong' });
  await assert.rejects(glovebox.openSession({ name: 'wrong' }), GloveboxError);
  await assert.rejects(session.interrupt(), { code: 'invalid' });
  await assert.rejects(session.send('y'), /takes no input/);
  assert.throws(() => session.execute(1), TypeError);
  assert.throws(() => session.execute('1', { timeout: 1 }), TypeError);
  assert.throws(() => session.execute('1', { globals: { a: Symbol() } }), SerializationError);
  await session.kill();
});

test('sessions end with the process, and later calls reject', async () => {
  const own = new Glovebox();
  const session = await own.openSession();
  const run = session.execute('for (;;);');
  await until(() => run.running);
  await own.close();
  await assert.rejects(async () => run, { code: 'closed' });
  await assert.rejects(session.info(), { code: 'closed' });
  await assert.rejects(async () => session.execute('1'), { code: 'closed' });
});
