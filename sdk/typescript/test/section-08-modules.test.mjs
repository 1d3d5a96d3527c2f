/* Modules in the sandbox. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { endsWith, valueOf } from './helpers.mjs';

test('8 import, export and top-level await', async () => {
  const options = { imports: { lib: { later: async () => 20 } }, modules: { './two.js': 'export default await 2' } };
  const source = `
    import { later } from 'lib';
    import two from './two.js';
    const value = await later();
    export { value as default, two };
  `;
  assert.equal(await valueOf(source, options), 20);
  assert.equal(await valueOf(source, { ...options, execute: { fn: 'two' } }), 2);
});

test('8 modules are strict', async () => {
  await endsWith('error', 'undeclared = 1');
  await endsWith('link_error', 'with ({}) {}');
});

test('8 cycles between modules', async () => {
  const modules = {
    './a.js': "import { b } from './b.js'; export const a = () => 'a' + b();",
    './b.js': "import { a } from './a.js'; export const b = () => 'b' + typeof a;",
  };
  assert.equal(await valueOf("import { a } from './a.js'; export default a()", { modules }), 'abfunction');
});

test('8 the namespace of a bridged module is frozen', async () => {
  const source = `
    import * as lib from 'lib';
    const attempt = (change) => { try { change(); return 'changed' } catch (error) { return error.name } };
    export default [
      attempt(() => { lib.value = 2 }),
      attempt(() => { lib.added = 1 }),
      attempt(() => { delete lib.value }),
      attempt(() => { Object.defineProperty(lib, 'value', { value: 3 }) }),
      lib.value, Object.isExtensible(lib),
    ];
  `;
  const back = await valueOf(source, { imports: { lib: { value: 1 } } });
  assert.deepEqual(back, ['TypeError', 'TypeError', 'TypeError', 'TypeError', 1, false]);
});

test('8 the namespace is a copy: changes of the host’s object are not visible', async () => {
  const lib = { value: 1, change: () => void (lib.value = 2) };
  const source = "import * as lib from 'lib'; lib.change(); export default lib.value";
  assert.equal(await valueOf(source, { imports: { lib } }), 1);
  assert.equal(lib.value, 2);
});

test('8 source-backed modules by relative specifier', async () => {
  const modules = { './lib/a.js': 'export const a = 1', './b.js': "export * from './lib/a.js'; export const b = 2" };
  assert.deepEqual(await valueOf("import * as all from './b.js'; export default { ...all }", { modules }), {
    a: 1,
    b: 2,
  });
});

test('8 import.meta is a synthetic url and nothing else', async () => {
  const source = 'export default [Reflect.ownKeys(import.meta), import.meta.url]';
  assert.deepEqual(await valueOf(source), [['url'], 'sandbox:<runCode>']);
  assert.deepEqual(await valueOf(source, { filename: 'agent/main.js' }), [['url'], 'sandbox:agent/main.js']);
});

test('8 import.meta of other modules', async () => {
  const modules = { './lib/a.js': 'export default import.meta.url' };
  assert.match(await valueOf("export { default } from './lib/a.js'", { modules }), /^sandbox:.*lib\/a\.js$/);
});

test('8 no paths of the host are visible', async () => {
  const { error } = await endsWith('error', 'throw new Error(import.meta.url + new Error().stack)');
  assert.doesNotMatch(JSON.stringify(error), /\/(home|root|tmp|usr|work|proc)\b/);
});
