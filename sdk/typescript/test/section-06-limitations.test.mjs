/* Limitations of code in the sandbox. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { runCode } from 'glovebox';
import { endsWith, FOREVER, valueOf } from './helpers.mjs';

const PRESENT = `Object Array Promise Math JSON Map Set Date RegExp Error BigInt Symbol Reflect Proxy structuredClone
  globalThis undefined NaN Infinity Uint8Array Float64Array ArrayBuffer DataView WeakMap queueMicrotask`.split(/\s+/);
const ABSENT = `process global window self document require module Deno Bun fetch Request Response URL URLSearchParams
  WebSocket WebAssembly crypto setTimeout setInterval setImmediate performance atob btoa TextEncoder TextDecoder
  SharedArrayBuffer Atomics postMessage importScripts std os scriptArgs print gc`.split(/\s+/);

test('6.1 globalThis has the intrinsics', async () => {
  const source = 'export default names.filter((name) => !(name in globalThis))';
  assert.deepEqual(await valueOf(source, { globals: { names: PRESENT } }), []);
});

for (const name of ABSENT) {
  test(`6.1 there is no ${name}`, async () => {
    const source = `export default [typeof ${name}, '${name}' in globalThis]`;
    assert.deepEqual(await valueOf(source), ['undefined', false]);
  });
}

test('6.1 missing globals can be bridged', async () => {
  const globals = {
    fetch: async (url) => ({ status: 200, url }),
    setTimeout: (fn, ms) => void setTimeout(fn, ms),
  };
  const source = `
    const waited = await new Promise((resolve) => setTimeout(() => resolve('waited'), 10));
    export default [(await fetch('https://example.com')).status, waited, globalThis.fetch];
  `;
  assert.deepEqual(await valueOf(source, { globals }), [200, 'waited', undefined]);
});

const DYNAMIC = {
  eval: 'eval("1")',
  'indirect eval': '(0, eval)("1")',
  Function: 'Function("return 1")()',
  'new Function': 'new Function("return 1")()',
  'through an instance': '(() => {}).constructor("return 1")()',
  AsyncFunction: '(async () => {}).constructor("return 1")()',
  GeneratorFunction: '(function* () {}).constructor("yield 1")().next()',
  AsyncGeneratorFunction: '(async function* () {}).constructor("yield 1")()',
  'through Reflect': 'Reflect.construct((() => {}).constructor, ["return 1"])()',
};
for (const [name, expression] of Object.entries(DYNAMIC)) {
  test(`6.2 no code from text: ${name}`, async () => {
    assert.equal(await valueOf(`let r; try { r = ${expression} } catch { r = 'threw' } export default r`), 'threw');
  });
}

test('6.2 import() finds given modules only', async () => {
  const options = { imports: { lib: { one: 1 } }, modules: { './two.js': 'export default 2' } };
  const source = `
    const attempt = (specifier) => import(specifier).then(() => 'there', (error) => error instanceof Error);
    export default [
      (await import('lib')).one, (await import('./two.js')).default,
      await attempt('nowhere'), await attempt('https://example.com/a.js'), await attempt('./three.js'), await attempt('fs'),
    ];
  `;
  assert.deepEqual(await valueOf(source, options), [1, 2, true, true, true, true]);
});

test('6.3 no memory is shared: changes are not visible to the other side', async () => {
  const data = { bytes: new Uint8Array([1]), list: [1] };
  const change = 'data.bytes[0] = 9; data.list.push(9); change(data); export default [data.bytes[0], data.list.length]';
  const globals = {
    data,
    change: (copy) => {
      copy.bytes[0] = 5;
      copy.list.length = 0;
    },
  };
  assert.deepEqual(await valueOf(change, { globals }), [9, 2]);
  assert.deepEqual(data, { bytes: new Uint8Array([1]), list: [1] });
});

test('6.4 terminate ends a tight synchronous loop', async () => {
  const run = runCode(FOREVER);
  setTimeout(() => run.terminate('enough'), 20);
  assert.equal((await run).status, 'terminated');
});

for (const [name, source] of Object.entries({
  'a loop that swallows everything': 'for (;;) { try { for (;;) {} } catch {} finally { continue } }',
  microtasks: 'const spin = () => Promise.resolve().then(spin); await spin(); for (;;) await 0',
  'a regular expression': '/(a+)+$/.test("a".repeat(50) + "b"); for (;;) {}',
  'a getter in a sort': 'for (;;) [3, 2, 1].sort(() => { for (;;) {} })',
})) {
  test(`6.4 terminate ends ${name}`, async () => {
    const run = runCode(source);
    setTimeout(() => run.terminate('enough'), 20);
    const { status, error } = await run;
    assert.equal(status, 'terminated', error?.message);
  });
}

test('6.5 memory is limited: by the option, and by default', async () => {
  const greedy = 'const all = []; for (;;) all.push({})';
  await endsWith('memory', greedy, { memoryLimitBytes: 4 * 1024 * 1024 });
  await endsWith('memory', greedy);
});

test('6.5 code cannot catch the end at the memory limit', async () => {
  await endsWith('memory', 'const all = []; for (;;) { try { for (;;) all.push(new Uint8Array(1e5)) } catch {} }');
});

test('6.6 microtasks work, timers do not exist', async () => {
  const source = `
    const order = [];
    queueMicrotask(() => order.push('microtask'));
    Promise.resolve().then(() => order.push('then'));
    order.push('sync');
    await new Promise((resolve) => queueMicrotask(resolve));
    await null;
    export default [...order, typeof setTimeout, typeof setInterval];
  `;
  assert.deepEqual(await valueOf(source), ['sync', 'microtask', 'then', 'undefined', 'undefined']);
});

test('6.7 Date.now and Math.random work, and can be replaced', async () => {
  const [now, a, b] = await valueOf('export default [Date.now(), Math.random(), Math.random()]');
  assert.ok(Math.abs(now - Date.now()) < 60_000);
  assert.ok(a >= 0 && a < 1 && a !== b);
  const again = await valueOf('export default Math.random()');
  assert.notEqual(again, a);
  const globals = { random: () => 0.5, now: () => 7 };
  assert.deepEqual(await valueOf('export default [random(), now()]', { globals }), [0.5, 7]);
});

test('6.8 every run is fresh', async () => {
  const source = `
    const before = [Object.prototype.mark, globalThis.mark, Array.prototype.push === Array.prototype.pop];
    Object.prototype.mark = globalThis.mark = 1;
    Array.prototype.push = Array.prototype.pop;
    export default before;
  `;
  for (let i = 0; i < 3; i++) assert.deepEqual(await valueOf(source), [undefined, undefined, false]);
});

test('6.8 modules are evaluated anew', async () => {
  const options = { modules: { './count.js': 'export const state = { n: 0 }' } };
  const source = "import { state } from './count.js'; export default ++state.n";
  assert.deepEqual([await valueOf(source, options), await valueOf(source, options)], [1, 1]);
});

test('6.8 state is kept through a bridge', async () => {
  const storage = new Map();
  const globals = { load: (key) => storage.get(key) ?? 0, save: (key, value) => void storage.set(key, value) };
  const source = "const n = load('n') + 1; save('n', n); export default n";
  assert.deepEqual([await valueOf(source, { globals }), await valueOf(source, { globals })], [1, 2]);
});
