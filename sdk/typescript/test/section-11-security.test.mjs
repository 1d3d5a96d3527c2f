/* Hostile code, and its access through bridged functions. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { Glovebox, runCode } from 'glovebox';
import { endsWith, FOREVER, later, valueOf } from './helpers.mjs';

test('11 untrusted source: common escapes fail', async () => {
  const source = `
    const attempts = [
      () => process.exit(1),
      () => require('fs'),
      () => globalThis.constructor.constructor('return process')(),
      () => (() => {}).constructor('return this')().process.pid,
      () => bridge.constructor('return process')(),
      () => bridge.constructor.constructor('return process')(),
      () => Object.getPrototypeOf(bridge).constructor('return process')(),
      () => bridge.caller.toString(),
      () => { try { bridge() } catch (error) { return error.constructor.constructor('return process')() } },
    ];
    export default attempts.map((attempt) => { try { return String(attempt()) } catch { return 'no' } });
  `;
  const bridge = () => {
    throw new Error('no');
  };
  assert.deepEqual([...new Set(await valueOf(source, { globals: { bridge } }))], ['no']);
});

test('11 a bridged function can be called repeatedly, with any arguments', async () => {
  const seen = [];
  const source = `
    const cyclic = {}; cyclic.self = cyclic;
    for (const value of [undefined, null, NaN, -0, 1n, '\\ud800', [,], cyclic, new Map([[{}, 1]]), () => {}, new Date(NaN),
      JSON.parse('{"__proto__":{"admin":true},"constructor":1}'), { then: () => {} }, { toJSON: () => 1 }]) take(value);
    for (let i = 0; i < 1000; i++) take(i);
    export default 'ok';
  `;
  assert.equal(await valueOf(source, { globals: { take: (value) => void seen.push(value) } }), 'ok');
  assert.equal(seen.length, 1014);
  assert.equal({}.admin, undefined);
  assert.equal(seen.at(-1), 999);
});

test('11 arguments are plain data: without prototypes, getters and proxies of the code', async () => {
  const seen = [];
  const source = `
    class Account { get balance() { return 1 } }
    const hostile = [
      Object.assign(new Account(), { id: 1 }), new Proxy({ a: 1 }, { get: () => 2 }), { get a() { return 3 } },
      { hasOwnProperty: 1, valueOf: 2, constructor: 3 }, Object.create(null), Object.freeze({ a: 1 }),
    ];
    for (const value of hostile) try { take(value) } catch {}
    export default 0;
  `;
  await valueOf(source, { globals: { take: (value) => void seen.push(value) } });
  assert.ok(seen.length >= 3);
  for (const value of seen) {
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    for (const property of Object.values(Object.getOwnPropertyDescriptors(value))) assert.ok('value' in property);
  }
});

test('11 a function then of an object is not called, in either direction', async () => {
  let calls = 0;
  const source = `
    const trap = { then(resolve) { hit(); resolve('adopted') } };
    const back = same(trap);
    export default [typeof back, typeof back.then];
  `;
  const globals = { hit: () => void calls++, same: (value) => value };
  assert.deepEqual(await valueOf(source, { globals }), ['object', 'function']);
  assert.equal(calls, 0);
});

test('11 rejections and exceptions of the code do not end this process', async () => {
  const source = `
    take(Promise.reject(new Error('unseen')).catch((e) => { throw e }));
    call(() => { throw new Error('unseen') });
    export default 0;
  `;
  await runCode(source, { globals: { take: () => {}, call: (fn) => void fn() } });
  await later(20);
});

test('11 a bridged function checks its arguments and keeps a budget', async () => {
  let budget = 3;
  const read = (path) => {
    if (typeof path !== 'string' || !path.startsWith('/data/')) throw new TypeError('not a path of yours');
    if (budget-- <= 0) throw new RangeError('too many calls');
    return 'data';
  };
  const source = `
    const attempt = (path) => { try { return read(path) } catch (error) { return error.message } };
    export default ['/etc/passwd', { toString: () => '/data/x' }, '/data/1', '/data/2', '/data/3', '/data/4'].map(attempt);
  `;
  const denied = 'not a path of yours';
  const expected = [denied, denied, 'data', 'data', 'data', 'too many calls'];
  assert.deepEqual(await valueOf(source, { globals: { read } }), expected);
});

test('11 calls are limited even if the bridged function has no limit', async () => {
  const client = new Glovebox({ limits: { maxCalls: 50 } });
  let calls = 0;
  const { status, error } = await client.runCode('for (;;) f()', { globals: { f: () => void calls++ } });
  await client.close();
  assert.equal(status, 'error');
  assert.ok(error.message);
  assert.equal(calls, 50);
});

test('11 only passed values can be reached', async () => {
  process.env.GLOVEBOX_TEST_SECRET = 'hunter2';
  const secret = { token: 'hunter2' };
  const globals = { pick: (name) => ({ visible: 1 })[name] ?? null, closure: () => Object.keys(secret).length };
  const source = `
    const seen = [];
    const look = (value, depth = 0) => {
      if (depth > 4 || (typeof value !== 'object' && typeof value !== 'function') || value === null) return seen.push(String(value));
      for (const key of Reflect.ownKeys(value)) {
        try { look(value[key], depth + 1) } catch {}
      }
    };
    look(pick); look(closure); look(globalThis); look(pick('constructor')); look(new Error().stack);
    export default seen.join();
  `;
  assert.doesNotMatch(await valueOf(source, { globals }), /hunter2/);
});

test('11 a Buffer does not disclose the rest of its pool', async () => {
  Buffer.from('hunter2-in-the-pool');
  const small = Buffer.from('ok');
  const view = new Uint8Array(small.buffer, small.byteOffset, small.length);
  const source =
    'export default [small, view].map((v) => Array.from(new Uint8Array(v.buffer), (b) => String.fromCharCode(b)).join(""))';
  for (const text of await valueOf(source, { globals: { small, view } })) assert.doesNotMatch(text, /hunter2/);
});

test('11 the caller can terminate runaway code', async () => {
  const run = runCode(FOREVER);
  const deadline = setTimeout(() => run.terminate('deadline'), 20);
  assert.equal((await run).status, 'terminated');
  clearTimeout(deadline);
});

test('11 memory is limited explicitly', async () => {
  await endsWith('memory', 'const a = []; for (;;) a.push("x".repeat(1e6) + a.length)', {
    memoryLimitBytes: 32 * 1024 * 1024,
  });
});

test('11 logs contain the logged values, which may be confidential', async () => {
  const { logs } = await endsWith('success', 'console.log(token); export default 0', { globals: { token: 'hunter2' } });
  assert.deepEqual(logs[0].args, ['hunter2']);
});

test('11 one hostile run does not disturb another', async () => {
  const good = Array.from({ length: 5 }, (_, i) =>
    valueOf(`export default await f(${i})`, { globals: { f: async (n) => n } }),
  );
  const bad = ['while (true) {}', 'const a = []; for (;;) a.push(a.slice())', 'throw 1', '}'].map((source) =>
    runCode(source),
  );
  assert.deepEqual(await Promise.all(good), [0, 1, 2, 3, 4]);
  for (const run of bad) run.terminate();
  for (const run of bad) assert.notEqual((await run).status, 'success');
});
