/* Invalid options throw at once, with an error that names the option. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { Glovebox, runCode, SerializationError } from 'glovebox';
import { fakeServer } from './helpers.mjs';

const wrong = [
  ['source', undefined, {}],
  ['source', 42, {}],
  ['options', '', null],
  ['options', '', 'fast'],
  ['options', '', []],
  ['options.color', '', { color: 'red' }],
  ['options["two words"]', '', { 'two words': 1 }],
  ['options.toString', '', { toString: 1 }],
  ['options.execute', '', { execute: 'main' }],
  ['options.execute.fn', '', { execute: { fn: 1 } }],
  ['options.execute.args', '', { execute: { args: 'a' } }],
  ['options.execute.name', '', { execute: { name: 'main' } }],
  ['options.imports', '', { imports: [] }],
  ['options.imports', '', { imports: null }],
  ['options.imports.fs', '', { imports: { fs: 1 } }],
  ['options.imports.fs', '', { imports: { fs: null } }],
  ['options.imports.fs', '', { imports: { fs: () => {} } }],
  ['options.imports["./fs.js"]', '', { imports: { './fs.js': {} } }],
  ['options.imports["../fs.js"]', '', { imports: { '../fs.js': {} } }],
  ['options.imports["/fs"]', '', { imports: { '/fs': {} } }],
  ['options.imports["https://a.b/c.js"]', '', { imports: { 'https://a.b/c.js': {} } }],
  ['options.modules', '', { modules: 'a' }],
  ['options.modules["./a.js"]', '', { modules: { './a.js': {} } }],
  ['options.modules.fs', '', { modules: { fs: '' } }],
  ['options.modules["/a.js"]', '', { modules: { '/a.js': '' } }],
  ['options.globals', '', { globals: 1 }],
  ['options.globals["a-b"]', '', { globals: { 'a-b': 1 } }],
  ['options.globals["1a"]', '', { globals: { '1a': 1 } }],
  ['options.language', '', { language: 'python' }],
  ['options.memoryLimitBytes', '', { memoryLimitBytes: '64M' }],
  ['options.memoryLimitBytes', '', { memoryLimitBytes: 0 }],
  ['options.memoryLimitBytes', '', { memoryLimitBytes: -1 }],
  ['options.memoryLimitBytes', '', { memoryLimitBytes: 1.5 }],
  ['options.memoryLimitBytes', '', { memoryLimitBytes: NaN }],
  ['options.filename', '', { filename: 1 }],
  ['options.report', '', { report: [] }],
];
for (const [name, source, options] of wrong) {
  test(`${name} of ${JSON.stringify(options)}, source ${source}`, () => {
    assert.throws(
      () => runCode(source, options),
      (error) => error instanceof TypeError && error.message.startsWith(`${name}: `),
    );
  });
}

for (const key of ['timeout', 'timeoutMs', 'deadline', 'signal']) {
  test(`${key}: the error says how to end a run`, () => {
    assert.throws(() => runCode('', { [key]: 100 }), { name: 'TypeError', message: /terminate\(\)/ });
  });
}

const wrongClients = [
  ['options', null],
  ['options.speed', { speed: 1 }],
  ['options.path', { path: 1 }],
  ['options.command', { command: 'glovebox stdio' }],
  ['options.command', { command: [] }],
  ['options.socket', { socket: 1 }],
  ['options.env', { env: 'A=1' }],
  ['options', { path: '/a', socket: '/b' }],
  ['options.configFile', { configFile: 1 }],
  ['options.configFile', { configFile: 'a\0b' }],
  ['options.configFile', { configFile: '/a', socket: '/b' }],
  ['options.configFile', { configFile: '/a', command: ['b'] }],
  ['options.settings', { settings: 'agent.enabled=true' }],
  ['options.settings["agent.enabled"]', { settings: { 'agent.enabled': null } }],
  ['options.settings["agent.enabled"]', { settings: { 'agent.enabled': NaN } }],
  ['options.settings["agent.enabled"]', { settings: { 'agent.enabled': 'a\0b' } }],
  ['options.settings["a=b"]', { settings: { 'a=b': 1 } }],
  ['options.settings', { settings: {}, socket: '/b' }],
  ['options.settings', { settings: {}, command: ['b'] }],
  ['options.limits', { limits: 1 }],
  ['options.limits.timeoutMs', { limits: { timeoutMs: 0 } }],
  ['options.limits.cores', { limits: { cores: 1 } }],
];
for (const [name, options] of wrongClients) {
  test(`new Glovebox: ${name} of ${JSON.stringify(options)}`, () => {
    assert.throws(
      () => new Glovebox(options),
      (error) => error instanceof TypeError && error.message.startsWith(`${name}: `),
    );
  });
}

class Socket {}
const stuck = [
  ['globals.user.socket', { globals: { user: { socket: new Socket() } } }],
  ['globals.socket', { globals: { socket: new Socket() } }],
  ['imports.fs.x', { imports: { fs: { x: new Socket() } } }],
  ['imports["@a/b"].x[0]', { imports: { '@a/b': { x: [new Socket()] } } }],
  ['args[0].user.socket', { execute: { args: [{ user: { socket: new Socket() } }] } }],
  [
    'globals.late',
    {
      globals: {
        get late() {
          throw new Error('too late');
        },
      },
    },
  ],
];
for (const [path, options] of stuck) {
  test(`${path} cannot cross`, () => {
    assert.throws(
      () => runCode('', options),
      (error) => error instanceof SerializationError && error.path === path && error.message.startsWith(`${path}: `),
    );
  });
}

/** The message that a fake server got. */
async function sent(options, limits) {
  const client = new Glovebox({ command: [process.execPath, fakeServer], limits });
  const { result } = await client.runCode('[["lines"]]', options);
  await client.close();
  return JSON.parse(result)[0];
}

test('defaults are left to the server, except the export', async () => {
  assert.deepEqual(await sent(), {
    type: 'run',
    run: 1,
    source: '[["lines"]]',
    options: { execute: { fn: 'default' } },
  });
});

test('an undefined option is the same as a missing one', async () => {
  const options = { execute: undefined, imports: undefined, report: undefined, language: undefined };
  assert.deepEqual((await sent(options)).options, { execute: { fn: 'default' } });
});

test('all given options are sent', async () => {
  const options = {
    execute: { fn: 'main', args: [1, undefined] },
    imports: { fs: { default: 1, name: 'x' }, '@scope/pkg': {} },
    modules: { './a.js': 'export {}', '../b.js': '' },
    globals: { $a: 1n, ünï: null },
    language: 'javascript',
    memoryLimitBytes: 1e7,
    filename: 'a.js',
    report: () => {},
  };
  const message = await sent(options, { timeoutMs: 5, maxCalls: 3 });
  assert.deepEqual(message.options, {
    ...options,
    execute: { fn: 'main', args: [1, { $type: 'undefined' }] },
    globals: { $a: { $type: 'bigint', value: '1' }, ünï: null },
    report: true,
  });
  assert.deepEqual(message.limits, { timeoutMs: 5, maxCalls: 3 });
});

test('options are copied when the run is started', async () => {
  const client = new Glovebox({ command: [process.execPath, fakeServer] });
  const list = [1];
  const run = client.runCode('[["lines"]]', { globals: { list } });
  list.push(2);
  assert.deepEqual(JSON.parse((await run).result)[0].options.globals, { list: [1] });
  await client.close();
});

test('a function has the same id in all options', async () => {
  const same = () => {};
  const other = () => {};
  const { globals, imports } = (await sent({ globals: { same, other, list: [same] }, imports: { a: { same } } }))
    .options;
  assert.deepEqual(globals.same, { $type: 'function', id: globals.same.id, name: 'same' });
  assert.notEqual(globals.same.id, globals.other.id);
  assert.deepEqual(globals.list, [globals.same]);
  assert.deepEqual(imports.a.same, globals.same);
});

test('a rejected promise in the options is not an unhandled rejection', async () => {
  const { globals } = (await sent({ globals: { promise: Promise.reject(new Error('unseen')) } })).options;
  assert.equal(globals.promise.$type, 'promise');
});
