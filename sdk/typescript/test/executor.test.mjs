/* Code that calls tools of this program, on the runtimes of the executor. */
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createExecutor, Glovebox, ToolRegistry } from 'glovebox';
import { tsc } from './helpers.mjs';

const folder = mkdtempSync(join(tmpdir(), 'glovebox-executor-'));
const configFile = join(folder, 'glovebox.yaml');
writeFileSync(configFile, 'energy: {enabled: false}\nagent: {enabled: true}\nexecutor: {maxToolCalls: 1000}\n');
const others = Object.entries(process.env).filter(([name]) => !name.startsWith('GLOVEBOX_'));
const env = { ...Object.fromEntries(others), GLOVEBOX_STATE_DIR: join(folder, 'state') };
const deciding = new Glovebox({ configFile, env, decides: ['executor'] });
const asking = new Glovebox({ configFile, env });
after(async () => {
  await Promise.all([deciding.close(), asking.close()]);
  rmSync(folder, { recursive: true });
});

const numbers = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
  additionalProperties: false,
};
const registry = new ToolRegistry()
  .define({ name: 'add', description: 'Adds.', inputSchema: numbers, run: ({ a, b }) => a + b })
  .define({ name: 'echo', run: (params) => params })
  .define({ name: 'nothing', run: () => undefined })
  .define({
    name: 'fails',
    run: () => {
      throw new Error('the tool says no');
    },
  })
  .define({ name: 'large', run: ({ n }) => 'x'.repeat(n) })
  .define({ name: 'hangs', run: () => new Promise(() => {}) });

const execute = (code, config = {}, options = {}) =>
  createExecutor({ code_timeout: 30000, ...config }, registry, { glovebox: deciding, ...options }).execute(code, '');

async function outputOf(code, ...more) {
  const result = await execute(code, ...more);
  assert.equal(result.success, true, result.error);
  assert.ok(!('error' in result));
  return result.output;
}

async function errorOf(code, ...more) {
  const result = await execute(code, ...more);
  assert.equal(result.success, false, result.output);
  return result.error;
}

test('the result has the five fields of the contract', async () => {
  const result = await execute('output(String(1 + 2)); debug("not output"); return [await add({a: 1, b: 2})];');
  assert.deepEqual(Object.keys(result), ['success', 'output', 'tool_calls_made', 'duration_ms']);
  assert.equal(result.output, '3\n[3]');
  assert.equal(result.tool_calls_made, 1);
  assert.ok(result.duration_ms > 0);
});

test('stubs are functions, by the names and schemas of the tools', async () => {
  assert.equal(await outputOf('const sum: number = await add({a: 1, b: 2}); return sum;'), '3');
  assert.equal(await outputOf('return await __callTool__("add", {a: 20, b: 22});'), '42');
  assert.equal(await outputOf('return await nothing() === undefined;'), 'true');
});

test('stubs that are given replace those of the registry', async () => {
  const runtime = createExecutor({}, registry, { glovebox: deciding });
  const stubs = 'async function sum(...n: number[]): Promise<number> { return __callTool__("add", {a: n[0], b: n[1]}) }';
  assert.equal((await runtime.execute('return await sum(1, 2)', stubs)).output, '3');
  const gone = await runtime.execute('return await add({a: 1, b: 2})', stubs);
  assert.match(gone.error, /ReferenceError: add is not defined \(line 1/);
});

test('any object with generateStubs and dispatch is a registry', async () => {
  const calls = [];
  const plain = {
    generateStubs: () => 'async function twice(n: number) { return __callTool__("twice", {n}); }',
    dispatch: async (name, params) => (calls.push([name, params]), params.n * 2),
  };
  const runtime = createExecutor({}, plain, { glovebox: deciding });
  assert.equal((await runtime.execute('return await twice(21)', '')).output, '42');
  assert.deepEqual(calls, [['twice', { n: 21 }]]);
});

test('parameters are checked before the tool is called, and the error names the path', async () => {
  const catches = (call) => outputOf(`try { return await ${call} } catch (e) { return String(e) }`);
  assert.match(await catches('add({a: 1, b: "2"} as any)'), /^Error: params\.b: /);
  assert.match(await catches('add({a: 1} as any)'), /^Error: params/);
  assert.match(await catches('add({a: 1, b: 2, c: 3} as any)'), /^Error: params/);
  assert.match(await catches('__callTool__("missing", {})'), /^Error: there is no tool 'missing'/);
  assert.equal(await catches('add({a: 1, b: 2})'), '3');
});

test('values cross as JSON, whatever they contain', async () => {
  const value = { $type: 'bigint', value: 'ü\u2028\n"', list: [1.5, null, true, { $type: 'x' }], '': {} };
  assert.equal(await outputOf(`return await echo(${JSON.stringify(value)})`), JSON.stringify(value));
  assert.match(await errorOf('return await echo({n: 1n} as any)'), /^TypeError: .*(line 1|BigInt|bigint)/i);
});

test('64 calls at the same time', async () => {
  const code = 'return (await Promise.all(Array.from({length: 64}, (_, i) => add({a: i, b: 0})))).join();';
  assert.equal(await outputOf(code), Array.from({ length: 64 }, (_, i) => i).join());
});

test('an answer of ten megabytes', async () => {
  assert.equal(await outputOf('return (await large({n: 10 << 20})).length'), String(10 << 20));
});

test('an error of a tool is an exception that the code can catch', async () => {
  assert.equal(await outputOf('try { await fails() } catch (e) { return e.message }'), 'the tool says no');
  assert.equal(await errorOf('await fails()'), 'Error: the tool says no');
});

test('a tool that never answers meets the time limit', async () => {
  assert.equal(await errorOf('await hangs()', { code_timeout: 200 }), 'Execution timed out after 200ms');
});

test('too many calls end the execution', async () => {
  const code = 'for (;;) try { await add({a: 1, b: 2}) } catch {}';
  const result = await execute(code, { max_tool_calls_per_exec: 3 });
  assert.equal(result.error, 'Tool calls exceed max of 3 per execution');
  assert.equal(result.tool_calls_made, 3);
  const none = await errorOf('await add({a: 1, b: 2})', { max_tool_calls_per_exec: 0 });
  assert.equal(none, 'Tool calls exceed max of 0 per execution');
});

test('code that is too long is refused', async () => {
  assert.equal(await errorOf(`return 1;${' '.repeat(100)}`, { max_code_size: 64 }), 'Code exceeds max size of 64 bytes');
  assert.equal(await errorOf(`return 1;//${'ü'.repeat(25600)}`), 'Code exceeds max size of 51200 bytes');
});

test('errors have the position in the code', async () => {
  assert.equal(await errorOf('const a = 1;\nnull.b;'), 'TypeError: cannot read property \'b\' of null (line 2, column 1)');
  assert.match(await errorOf('const a = 1;\nreturn a +;'), /^SyntaxError: .* \(line 2, column 11\)$/);
});

test('a person decides unless the program does, and the code loses no time', async () => {
  const decide = (...words) => promisify(execFile)(process.env.GLOVEBOX_PATH, ['approvals', ...words], { env });
  const onPending = ({ approval }) => decide('approve', approval);
  assert.equal(await outputOf('return 1', {}, { glovebox: asking, onPending }), '1');
  const denied = await execute('return 1', {}, { glovebox: asking, onPending: ({ approval }) => decide('deny', approval) });
  assert.match(denied.error, /^denied by /);
  assert.equal(denied.success, false);
});

test('one directory to read and write', async () => {
  const work = join(folder, 'work');
  mkdirSync(work);
  chmodSync(folder, 0o755);
  chmodSync(work, 0o777);
  const config = { working_dir: work };
  const code = `await Deno.writeTextFile('a.txt', 'seen'); return await Deno.readTextFile('/box/a.txt')`;
  assert.equal(await outputOf(code, config), 'seen');
  assert.equal(readFileSync(join(work, 'a.txt'), 'utf8'), 'seen');
  assert.equal(await outputOf(`open('b.txt', 'w').write('x')\nreturn open('a.txt').read()`, config, { language: 'python' }), 'seen');
  assert.equal(readFileSync(join(work, 'b.txt'), 'utf8'), 'x');
  assert.match(await errorOf("await Deno.readTextFile('/etc/passwd')", config), /^NotCapable: Requires read access/);
  assert.match(await errorOf('return 1', { working_dir: join(folder, 'none') }), /No such file/);
  assert.match(await errorOf('return 1', { working_dir: '/' }), /'\/' cannot be one/);
});

test('Python calls the same tools', async () => {
  const python = { language: 'python' };
  assert.equal(await outputOf('add(a=1, b=2)', {}, python), '3');
  assert.equal(await outputOf('import asyncio\nreturn sum(await asyncio.gather(*[add(a=i, b=0) for i in range(64)]))', {}, python), '2016');
  assert.equal(await errorOf('fails()', {}, python), 'Error: the tool says no (line 1, column 1)');
  assert.match(await errorOf('add(a="1", b=2)', {}, python), /^Error: params\.a/);
});

test('hosts that the settings do not admit are refused', async () => {
  assert.equal(await outputOf('return 1', { allowed_hosts: [] }), '1');
  assert.match(await errorOf('return 1', { allowed_hosts: ['a.example'] }, { language: 'deno' }), /network|deno/);
});

test('the host ends in the middle of a call', async () => {
  const own = new Glovebox({ configFile, env, decides: ['executor'] });
  const closing = { dispatch: async () => own.close() };
  const result = await createExecutor({}, closing, { glovebox: own }).execute('await __callTool__("x", {})', '');
  assert.equal(result.success, false);
  assert.match(result.error, /closed/);
});

test('tools of an MCP server', async () => {
  const pages = {
    undefined: { tools: [{ name: 'text', inputSchema: { type: 'object' } }, { name: 'json' }], nextCursor: 'b' },
    b: { tools: [{ name: 'structured' }, { name: 'error' }] },
  };
  const results = {
    text: { content: [{ type: 'text', text: 'plain words' }] },
    json: { content: [{ type: 'text', text: '{"a":1}' }] },
    structured: { structuredContent: [2], content: [{ type: 'text', text: '[2]' }] },
    error: { isError: true, content: [{ type: 'text', text: 'failed there' }] },
  };
  const client = {
    listTools: async ({ cursor }) => pages[cursor],
    callTool: async ({ name, arguments: params }) => (assert.deepEqual(params, { k: 1 }), results[name]),
  };
  const tools = new ToolRegistry();
  assert.equal(await tools.importMcp(client, 'm_'), 4);
  const runtime = createExecutor({}, tools, { glovebox: deciding });
  const code = `const p = {k: 1};
    const failed = await m_error(p).catch((e: Error) => e.message);
    return [await m_text(p), await m_json(p), await m_structured(p), failed];`;
  const { output, error } = await runtime.execute(code, '');
  assert.equal(output, '["plain words",{"a":1},[2],"failed there"]', error);
});

test('a registry refuses what is no tool', () => {
  const tools = new ToolRegistry().define({ name: 'a', run: () => 1 });
  assert.throws(() => tools.define({ name: 'a', run: () => 1 }), /another one/);
  assert.throws(() => tools.define({ name: '', run: () => 1 }), /name/);
  assert.throws(() => tools.define({ name: 'b' }), /run must be a function/);
  assert.deepEqual(tools.list(), [{ name: 'a' }]);
});

test('the example is accepted by the compiler in strict mode, and executes code by both tools', async () => {
  const project = join(folder, 'example');
  const path = (from) => fileURLToPath(new URL(from, import.meta.url));
  mkdirSync(join(project, 'node_modules'), { recursive: true });
  symlinkSync(path('..'), join(project, 'node_modules/glovebox'));
  cpSync(path('../../../examples/agent/agent.ts'), join(project, 'agent.ts'));
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  tsc(['--strict', '--target', 'es2022', '--module', 'nodenext', 'agent.ts'], project);
  const { stdout } = await promisify(execFile)(process.execPath, ['agent.js'], { cwd: project, env: { ...env,
    GLOVEBOX_PATH: process.env.GLOVEBOX_PATH, GLOVEBOX_CONFIG: configFile } });
  const [computed, done, answer] = stdout.split('\n');
  assert.equal(computed, 'core.execute: 33.333333333333336');
  assert.match(done, /^code: {"success":true,"output":"order 3 is cancelled","tool_calls_made":2,/);
  assert.equal(answer, 'Orders above 50 are cancelled.');
});
