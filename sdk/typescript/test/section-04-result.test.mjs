/* The result: its fields, and every status. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { Glovebox, run, runCode } from 'glovebox';
import { endsWith, FOREVER } from './helpers.mjs';

test('4 a success has all fields of the contract', async () => {
  const before = performance.now();
  const result = await endsWith('success', 'export default { a: 1 }');
  const elapsed = performance.now() - before;
  assert.deepEqual(result.result, { a: 1 });
  assert.deepEqual(result.reports, []);
  assert.deepEqual(result.logs, []);
  assert.ok(result.durationMs > 0 && result.durationMs <= elapsed);
  assert.ok(result.memoryUsedBytes > 0);
  const fields = ['status', 'result', 'reports', 'logs', 'durationMs', 'memoryUsedBytes'];
  assert.deepEqual(Object.keys(result).sort(), fields.sort());
});

test('4 a failure has exactly the fields of the contract', async () => {
  const thrown = await endsWith('error', 'throw new TypeError("no")');
  const fields = ['status', 'reports', 'logs', 'error', 'durationMs', 'memoryUsedBytes'];
  assert.deepEqual(Object.keys(thrown).sort(), fields.sort());
  const known = ['name', 'message', 'stack', 'filename', 'line', 'column'];
  assert.deepEqual(Object.keys(thrown.error).sort(), known.sort());
  const waiting = await endsWith('error', 'await new Promise(() => {})');
  assert.deepEqual(Object.keys(waiting.error).sort(), ['message', 'name']);
});

test('4 memoryUsedBytes is absent when it is unknown', async () => {
  const run = runCode(FOREVER);
  run.terminate();
  assert.equal('memoryUsedBytes' in (await run), false);
});

test('4 result is absent on failure, error is absent on success', async () => {
  assert.equal('error' in (await runCode('export default 1')), false);
  assert.equal('result' in (await runCode('throw 1')), false);
  assert.equal('result' in (await runCode('export default undefined')), true);
});

test('4 durationMs spans from the call to the result', async () => {
  const wait = () => new Promise((resolve) => setTimeout(resolve, 100));
  const { durationMs } = await runCode('await wait(); export default 1', { globals: { wait } });
  assert.ok(durationMs >= 99, String(durationMs));
});

test('4 memoryUsedBytes is the peak', async () => {
  const small = await runCode('export default 1');
  const large = await runCode('let a = new Uint8Array(8e6).fill(1); a = undefined; export default 1');
  assert.ok(large.memoryUsedBytes >= small.memoryUsedBytes + 7e6, `${small.memoryUsedBytes} ${large.memoryUsedBytes}`);
});

test('4 reports and logs are present for every status', async () => {
  const { reports, logs } = await endsWith('error', 'report(1); console.log("a"); throw new Error()', {
    report: () => {},
  });
  assert.deepEqual(reports, [1]);
  assert.deepEqual(logs[0].args, ['a']);
});

test('4.1 error: an uncaught error', async () => {
  const { error } = await endsWith('error', 'export default () => { throw new TypeError("boom") }');
  assert.equal(error.name, 'TypeError');
  assert.equal(error.message, 'boom');
});

test('4.1 error: an unhandled rejection', async () => {
  const { error } = await endsWith('error', 'Promise.reject(new RangeError("lost")); export default 1');
  assert.equal(error.name, 'RangeError');
  assert.equal(error.message, 'lost');
});

test('4.1 error: a thrown value that is not an Error', async () => {
  for (const [thrown, message] of [
    ['"x"', 'x'],
    ['42', '42'],
    ['null', 'null'],
    ['undefined', 'undefined'],
  ]) {
    const { error } = await endsWith('error', `throw ${thrown}`);
    assert.equal(error.name, 'Error');
    assert.equal(error.message, message);
  }
});

test('4.1 error: a hostile thrown value', async () => {
  const hostile = [
    '({ toString() { throw 1 } })',
    'Object.create(null)',
    'Symbol("s")',
    '(() => { const r = Proxy.revocable({}, {}); r.revoke(); return r.proxy })()',
    'Object.defineProperty(new Error(), "message", { get() { throw 1 } })',
    'new Proxy({}, { get() { throw 1 } })',
  ];
  for (const thrown of hostile) {
    const { error } = await endsWith('error', `throw ${thrown}`);
    assert.equal(typeof error.name, 'string', thrown);
    assert.equal(typeof error.message, 'string', thrown);
  }
});

test('4.1 error: a promise that nothing can settle', async () => {
  const { error } = await endsWith('error', 'export default new Promise(() => {})');
  assert.equal(error.name, 'DeadlockError');
});

test('4.1 error: a function or promise in the result', async () => {
  const { error } = await endsWith('error', 'export default { f() {} }');
  assert.equal(error.name, 'SerializationError');
  assert.match(error.message, /result\.f/);
  const nested = await endsWith('error', 'export default { list: [Promise.resolve(1)] }');
  assert.equal(nested.error.name, 'SerializationError');
  assert.match(nested.error.message, /result\.list\[0\]/);
});

test('4.1 memory', async () => {
  const source = 'const all = []; for (;;) all.push(new Uint8Array(1e5))';
  const { error } = await endsWith('memory', source, { memoryLimitBytes: 8 * 1024 * 1024 });
  assert.ok(error.message);
});

test('4.1 terminated: by the caller, with and without a reason', async () => {
  const run = runCode(FOREVER);
  run.terminate('user left');
  const { status, error } = await run;
  assert.equal(status, 'terminated');
  assert.equal(error.message, 'user left');
});

test('4.1 terminated: a time limit of the server is distinguishable from terminate', async () => {
  const client = new Glovebox({ limits: { timeoutMs: 50 } });
  const { status, error } = await client.runCode(FOREVER);
  await client.close();
  assert.equal(status, 'terminated');
  assert.match(error.message, /50 ms/);
});

test('4.1 link_error: unknown specifier, missing name, parse error', async () => {
  await endsWith('link_error', "import 'nowhere'");
  await endsWith('link_error', "import { x } from 'lib'", { imports: { lib: {} } });
  const { error } = await endsWith('link_error', 'export default 1;\nlet = = 2;');
  assert.equal(error.name, 'SyntaxError');
  assert.equal(error.line, 2);
  assert.ok(error.column >= 1);
});

test('4.2 line and column count from 1', async () => {
  const { error } = await endsWith('error', 'throw new Error("a")');
  assert.equal(error.filename, '<runCode>');
  assert.equal(error.line, 1);
  assert.ok(error.column >= 1);
  assert.match(error.stack, /<runCode>:1/);
});

test('4.2 an error of a bridged function is an ordinary error in the code', async () => {
  const read = () => {
    throw new RangeError('no such file');
  };
  const source = `
    try { read() } catch (error) {
      export_ = [error instanceof Error, error.name, error.message];
    }
    export default export_;
  `;
  const result = await endsWith('success', `let export_;${source}`, { globals: { read } });
  assert.deepEqual(result.result, [true, 'RangeError', 'no such file']);
});

test('4.2 the host’s stack does not leak', async () => {
  const read = () => {
    throw new Error('secret place');
  };
  const caught = await endsWith('success', 'let s; try { read() } catch (e) { s = String(e.stack) } export default s', {
    globals: { read },
  });
  const uncaught = await endsWith('error', 'read()', { globals: { read } });
  const later = await endsWith('error', 'await read()', { globals: { read: async () => read() } });
  for (const text of [caught.result, JSON.stringify(uncaught), JSON.stringify(later)]) {
    assert.doesNotMatch(text, /section-04|file:|node:|\.mjs/);
  }
  assert.equal(uncaught.error.message, 'secret place');
  assert.equal(later.error.message, 'secret place');
});

test('4.2 a bridged function may throw any value', async () => {
  const fail = () => {
    throw { code: 7 };
  };
  const source = 'let c; try { fail() } catch (thrown) { c = thrown.code } export default c';
  assert.equal((await endsWith('success', source, { globals: { fail } })).result, 7);
});

test('4.3 console calls are kept with level, arguments and time', async () => {
  const before = Date.now();
  const source = `
    for (const level of ['log', 'info', 'warn', 'error', 'debug']) console[level](level, { n: 1n }, [undefined]);
    export default 0;
  `;
  const { logs } = await endsWith('success', source);
  assert.deepEqual(
    logs.map(({ level, args }) => [level, args]),
    ['log', 'info', 'warn', 'error', 'debug'].map((level) => [level, [level, { n: 1n }, [undefined]]]),
  );
  for (const { timestamp } of logs) assert.ok(timestamp >= before - 1000 && timestamp <= Date.now() + 1000);
});

test('4.3 a console in globals is not captured', async () => {
  const lines = [];
  const console = { log: (...args) => void lines.push(args) };
  const { logs } = await endsWith('success', 'console.log("a", 1); export default 0', { globals: { console } });
  assert.deepEqual(logs, []);
  assert.deepEqual(lines, [['a', 1]]);
});

test('4.3 logs beyond the limit are cut', async () => {
  const client = new Glovebox({ limits: { outputBytes: 1000 } });
  const result = await client.runCode('for (let i = 0; i < 100; i++) console.log("x".repeat(100)); export default 0');
  await client.close();
  assert.equal(result.status, 'success');
  assert.ok(result.logs.length < 100);
});

test('4.2 texts with U+0000 are not cut', async () => {
  const { error } = await endsWith('error', "throw Object.assign(new Error('a\\0b'), { name: 'N\\0M', stack: 's\\0t' })");
  assert.deepEqual([error.name, error.message, error.stack], ['N\0M', 'a\0b', 's\0t']);
  assert.equal((await endsWith('error', "throw 'a\\0b'")).error.message, 'a\0b');
  const logged = await endsWith('success', "console.log('a\\0b', { 'k\\0': 1 }, new Error('c\\0d')); export default 'e\\0f'");
  assert.equal(logged.result, 'e\0f');
  assert.equal(logged.logs[0].args[0], 'a\0b');
  assert.deepEqual(logged.logs[0].args[1], { 'k\0': 1 });
  assert.equal(logged.logs[0].args[2].message, 'c\0d');
});

for (const [language, source] of [
  ['python', 'raise ValueError("a\\0b")'],
  ['node', 'throw new Error("a\\0b")'],
]) {
  test(`4.2 texts with U+0000 are not cut in ${language}`, async () => {
    const { status, error } = await run(source, { language });
    assert.equal(status, 'error');
    assert.equal(error.message, 'a\0b');
  });
}

test('4.2 a lone surrogate in a message does not change the rest', async () => {
  assert.equal((await endsWith('error', "throw new Error('é\\ud800ü')")).error.message, 'é\ufffdü');
});

test('4.2 a secret behind U+0000 is masked', async () => {
  const client = new Glovebox();
  await client.addSecret('WORDS', 'correct horse battery');
  const { error } = await client.runCode("throw new Error('a\\0correct horse battery')");
  await client.close();
  assert.equal(error.message, 'a\0***');
});
