/* The output channels: the selected export, and reports. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { endsWith, valueOf } from './helpers.mjs';

test('5.1 the default export', async () => {
  assert.deepEqual(await valueOf("export default { summary: 'ok', matches: 3 }"), { summary: 'ok', matches: 3 });
});

for (const source of [
  'export default 42;',
  'export default async () => 42;',
  'export default () => Promise.resolve(42);',
  'export default Promise.resolve(42);',
  'export default function () { return 42 }',
  'const value = 42; export { value as default };',
  'export default { then(resolve) { resolve(42) } };',
  'export default async () => ({ then: (resolve) => resolve(Promise.resolve(42)) });',
]) {
  test(`5.1 ${source} gives 42`, async () => {
    assert.equal(await valueOf(source), 42);
  });
}

test('5.1 a function that a function returns is not called', async () => {
  const { error } = await endsWith('error', 'export default () => () => 42');
  assert.equal(error.name, 'SerializationError');
});

test('5.1 named exports are selected by execute.fn', async () => {
  const source = 'export function increment(n) { return n + 1; }';
  assert.equal(await valueOf(source, { execute: { fn: 'increment', args: [100] } }), 101);
});

test('5.1 a missing export is a link error; a value that is not a function takes no arguments', async () => {
  await endsWith('link_error', 'export const a = 1', { execute: { fn: 'b' } });
  await endsWith('error', 'export const a = 1', { execute: { fn: 'a', args: [1] } });
});

test('5.1 a throw or rejection is an error', async () => {
  for (const source of [
    'export default () => { throw new Error("thrown") }',
    'export default async () => { throw new Error("thrown") }',
    'export default Promise.reject(new Error("thrown"))',
    'export default { then(_, reject) { reject(new Error("thrown")) } }',
    'throw new Error("thrown")',
  ]) {
    const { error } = await endsWith('error', source);
    assert.equal(error.message, 'thrown', source);
  }
});

test('5.2 a bridged report', async () => {
  const telemetry = [];
  const source = "import { report } from 'supervisor'; report({ a: 1 }); report(2); export default 'ok'";
  const result = await endsWith('success', source, {
    imports: { supervisor: { report: (payload) => void telemetry.push(payload) } },
  });
  assert.deepEqual(telemetry, [{ a: 1 }, 2]);
  assert.deepEqual(result.reports, []);
});

test('5.2 the host’s report callback has run when report returns', async () => {
  const seen = [];
  const source = 'const counts = []; for (const x of "abc") counts.push(report(x)); export default counts';
  const { result } = await endsWith('success', source, { report: (value) => seen.push(value) });
  assert.deepEqual(result, [1, 2, 3]);
});

test('5.2 a promise of the report callback is returned by report', async () => {
  const source = 'const p = report(1); export default [p instanceof Promise, await p]';
  const { result } = await endsWith('success', source, { report: async (value) => value + 1 });
  assert.deepEqual(result, [true, 2]);
});

test('5.2 an exception of the report callback is thrown by report', async () => {
  const report = () => {
    throw new RangeError('enough');
  };
  const { error, reports } = await endsWith('error', 'report(1)', { report });
  assert.equal(error.name, 'RangeError');
  assert.deepEqual(reports, [1]);
});

test('5.2 the built-in report exists only with the option', async () => {
  assert.equal(await valueOf('export default typeof report'), 'undefined');
  assert.equal(await valueOf('export default typeof report', { report: () => {} }), 'function');
  assert.equal(await valueOf('export default "report" in globalThis', { report: () => {} }), false);
});

test('5.2 reports keep the order of calls, from all modules', async () => {
  const options = { report: () => {}, modules: { './a.js': 'report("a")', './b.js': 'report("b")' } };
  const { reports } = await endsWith(
    'success',
    "import './a.js'; import './b.js'; report('c'); export default 0",
    options,
  );
  assert.deepEqual(reports, ['a', 'b', 'c']);
});

test('5.2 both channels at once', async () => {
  const { result, reports } = await endsWith('success', 'report(1); export default 2', { report: () => {} });
  assert.deepEqual([result, reports], [2, [1]]);
});

test('5.2 a value that is unsupported in a result cannot be reported', async () => {
  const { error, reports } = await endsWith('error', 'report({ f() {} })', { report: () => {} });
  assert.equal(error.name, 'SerializationError');
  assert.deepEqual(reports, []);
});

test('5.2 a function passed to the host can be called during the run only', async () => {
  let fn;
  const keep = async (value) => (fn = value)(1);
  assert.equal(await valueOf('export default await keep((n) => n + 1)', { globals: { keep } }), 2);
  await assert.rejects(fn(1), { name: 'GloveboxError', code: 'run_ended', message: /has ended/ });
});
