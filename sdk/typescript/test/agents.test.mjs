/* Requests of agents, through the gate of a real Glovebox with a state directory of its own. */
import { strict as assert } from 'node:assert';
import { AsyncLocalStorage } from 'node:async_hooks';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Glovebox, GloveboxError, SerializationError } from 'glovebox';
import { fakeServer } from './helpers.mjs';

const folder = mkdtempSync(join(tmpdir(), 'glovebox-agents-'));
const configFile = join(folder, 'glovebox.yaml');
writeFileSync(configFile, 'energy: {enabled: false}\n');

/** Without the settings of the user that runs the tests. */
const others = Object.entries(process.env).filter(([name]) => !name.startsWith('GLOVEBOX_'));
const env = { ...Object.fromEntries(others), GLOVEBOX_STATE_DIR: join(folder, 'state') };
const opened = [];
function open(settings, more) {
  opened.push(new Glovebox({ configFile, env, settings, ...more }));
  return opened.at(-1);
}

const closedToAll = open({});
const openToAll = open({ 'agent.enabled': true, 'agent.autoApprove': true });
const asking = open({ 'agent.enabled': true });
after(async () => {
  await Promise.all(opened.map((glovebox) => glovebox.close()));
  rmSync(folder, { recursive: true });
});

/** Decides an approval: approve, deny, trust. */
const decide = (what, approval, ...more) =>
  promisify(execFile)(process.env.GLOVEBOX_PATH, ['approvals', what, approval, ...more], { env });

/** Makes a request, and resolves when it waits for approval. */
function ask(source, options) {
  return new Promise((resolve, reject) => {
    const run = asking.executeForAgent(source, { ...options, onPending: (pending) => resolve({ run, pending }) });
    run.then((result) => reject(new Error(`nobody was asked: ${JSON.stringify(result)}`)), reject);
  });
}

async function succeeds(run) {
  const result = await run;
  assert.equal(result.status, 'success', `${result.error?.name}: ${result.error?.message}`);
  return result;
}

async function isRefused(code, run) {
  const result = await run;
  assert.equal(result.status, 'denied');
  assert.equal(result.error.code, code, result.error.message);
  assert.ok(!('result' in result) && !('runId' in result));
  return result.error.message;
}

test('agents may not run code unless the settings allow it', async () => {
  assert.equal(await closedToAll.agentsEnabled(), false);
  const run = closedToAll.executeForAgent('export default 1');
  assert.equal(run.running, true);
  assert.match(await isRefused('disabled', run), /agent\.enabled/);
  assert.equal(run.running, false);
  for (const rejected of [
    closedToAll.agentSessions(),
    closedToAll.killAgentSession('x'),
    closedToAll.cleanupAgentSessions('c'),
  ]) {
    await assert.rejects(rejected, { name: 'GloveboxError', code: 'refused', field: 'agent' });
  }
  assert.equal((await closedToAll.runCode('export default 6 * 7')).result, 42);
});

test('code runs at once if no approval is required', async () => {
  assert.equal(await openToAll.agentsEnabled(), true);
  const heard = { stdout: '', stderr: '' };
  const result = await succeeds(
    openToAll.executeForAgent('import sys\nprint("hé")\nprint("e", file=sys.stderr)\n6*7', {
      language: 'python',
      purpose: 'a sum',
      onOutput: (text, stream) => (heard[stream] += text),
      onPending: () => assert.fail('somebody is asked'),
    }),
  );
  assert.equal(result.result, 42);
  assert.equal(result.stdout, 'hé\n');
  assert.equal(result.exitCode, 0);
  assert.match(result.runId, /^[0-9a-f]{32}$/);
  assert.ok(!('session' in result) && !('displays' in result));
  assert.deepEqual(heard, { stdout: 'hé\n', stderr: 'e\n' });
});

test('arguments, logs and displays are passed', async () => {
  const source = 'export default (map, n) => { console.log([n]); return map.get("a") + n }';
  const { result, logs } = await succeeds(openToAll.executeForAgent(source, { args: [new Map([['a', 1n]]), 2n] }));
  assert.equal(result, 3n);
  assert.deepEqual(
    logs.map(({ level, args }) => [level, args]),
    [['log', [[2n]]]],
  );
  const png = 'class Figure:\n def _repr_png_(self): return b"ab"\n def __repr__(self): return "f"\ndisplay(Figure())';
  const { displays } = await succeeds(openToAll.executeForAgent(png, { language: 'python' }));
  assert.deepEqual(displays, [{ 'image/png': new Uint8Array([97, 98]), 'text/plain': 'f' }]);
});

test('an approved request runs', async () => {
  const before = Date.now();
  const { run, pending } = await ask('export default 6 * 7', { purpose: 'to know' });
  assert.equal(run.running, true);
  assert.deepEqual(Object.keys(pending), ['approval', 'expiresAt']);
  assert.match(pending.approval, /^[0-9a-f]{32}$/);
  assert.ok(pending.expiresAt instanceof Date && pending.expiresAt.getTime() > before);
  const { stdout } = await decide('show', pending.approval);
  assert.match(stdout, /6 \* 7/);
  assert.match(stdout, /to know/);
  await decide('approve', pending.approval);
  assert.equal((await succeeds(run)).result, 42);
});

test('a denied request does not run', async () => {
  const { run, pending } = await ask('export default 1');
  await decide('deny', pending.approval, '--reason', 'not today');
  assert.match(await isRefused('not_approved', run), /not today/);
});

test('callbacks run in the async context of the request', async () => {
  const context = new AsyncLocalStorage();
  const { pending, run } = await context.run(
    'mine',
    () =>
      new Promise((resolve) => {
        const run = asking.executeForAgent('1', { onPending: () => resolve({ run, pending: context.getStore() }) });
      }),
  );
  assert.equal(pending, 'mine');
  run.terminate();
  await isRefused('withdrawn', run);
});

test('a pending request can be withdrawn, once', async () => {
  const { run } = await ask('export default 1');
  run.terminate('never mind');
  run.terminate('again');
  assert.equal(await isRefused('withdrawn', run), 'never mind');
});

test('a running request can be terminated', async () => {
  const run = openToAll.executeForAgent('print(1, flush=True)\nwhile True: pass', {
    language: 'python',
    onOutput: () => run.terminate('enough'),
  });
  const { status, error } = await run;
  assert.equal(status, 'terminated');
  assert.equal(error.message, 'enough');
});

test('a session keeps definitions, outlives a terminated run, and is private to its conversation', async () => {
  const mine = { language: 'python', conversation: 'c', session: true };
  const { session } = await succeeds(openToAll.executeForAgent('x = 41', mine));
  assert.match(session, /^[0-9a-f]{32}$/);
  const loop = openToAll.executeForAgent('print(1, flush=True)\nwhile True: pass', {
    ...mine,
    onOutput: () => loop.terminate(),
  });
  assert.equal((await loop).status, 'terminated');
  const second = await succeeds(openToAll.executeForAgent('x + 1', { ...mine, session }));
  assert.equal(second.result, 42);
  assert.equal(second.session, session);
  await isRefused('unknown_session', openToAll.executeForAgent('x', { ...mine, conversation: 'd', session }));

  const [info, ...more] = await openToAll.agentSessions('c');
  assert.deepEqual(more, []);
  assert.equal(info.id, session);
  assert.equal(info.conversationId, 'c');
  assert.equal(info.runtime, 'python');
  assert.equal(info.state, 'idle');
  assert.deepEqual(await openToAll.agentSessions('d'), []);
  assert.deepEqual(await openToAll.sessions(), []); // none belongs to the application
});

test('sessions of agents can be ended: one, or those of a conversation', async () => {
  const start = (conversation, language = 'javascript') =>
    succeeds(openToAll.executeForAgent('1', { language, conversation, session: true }));
  const [{ session }] = await Promise.all([start('k'), start('k', 'python'), start('l')]);
  const info = await openToAll.killAgentSession(session, 'enough');
  assert.equal(info.state, 'terminated');
  assert.equal(info.reason, 'enough');
  await isRefused('unknown_session', openToAll.executeForAgent('1', { conversation: 'k', session }));
  await assert.rejects(openToAll.killAgentSession('nobody'), { code: 'unknown_session' });
  assert.equal(await openToAll.cleanupAgentSessions('k', 'over'), 1);
  const reasons = (await openToAll.agentSessions('k')).map(({ reason }) => reason);
  assert.deepEqual(reasons.sort(), ['enough', 'over']);
  assert.deepEqual(
    (await openToAll.agentSessions('l')).map(({ state }) => state),
    ['idle'],
  );
});

test('secrets are masked in every field of the result', async () => {
  const token = "'ghp_' + '0123456789abcdefghijABCDEFGHIJ012345'";
  const heard = [];
  const python = await succeeds(
    openToAll.executeForAgent(`t = ${token}\nprint(t)\nt`, {
      language: 'python',
      onOutput: (text) => heard.push(text),
    }),
  );
  assert.equal(heard.join(''), '***\n');
  assert.equal(python.stdout, '***\n');
  assert.equal(python.result, '***');
  const typescript = await succeeds(openToAll.executeForAgent(`console.log(${token}); export default [${token}]`));
  assert.deepEqual(typescript.logs[0].args, ['***']);
  assert.deepEqual(typescript.result, ['***']);
});

test('limits of the request and of the Glovebox apply, cut to the settings', async () => {
  const run = await openToAll.executeForAgent('for (;;);', { timeoutMs: 200 });
  assert.equal(run.status, 'terminated');
  assert.equal(run.timedOut, true);
  const settings = { 'agent.enabled': true, 'agent.autoApprove': true, 'agent.maxExecutionTime': '210ms' };
  const limits = { timeoutMs: 60_000, outputBytes: 1000, maxCalls: 1 };
  assert.match((await open(settings, { limits }).executeForAgent('for (;;);')).error.message, /210 ms/);
  const client = open({ 'agent.enabled': true, 'agent.autoApprove': true }, { limits });
  const { truncated } = await client.executeForAgent('for (let i = 0; i < 99; i++) console.log("x".repeat(99))');
  assert.equal(truncated, true);
});

test('configFile has the settings, and the option settings overrides it', async () => {
  const file = join(folder, 'open.yaml');
  writeFileSync(file, 'agent: {enabled: true, maxCodeSize: 1K}\nenergy: {enabled: false}\n');
  const fromFile = open(undefined, { configFile: file });
  assert.equal(await fromFile.agentsEnabled(), true);
  await isRefused('code_size', fromFile.executeForAgent(' '.repeat(1025)));
  assert.equal(await open({ 'agent.enabled': false }, { configFile: file }).agentsEnabled(), false);
});

test('an invalid setting is reported with the server’s message', async () => {
  const lost = { name: 'GloveboxError', code: 'connection_lost' };
  const wrong = open({ 'agent.enabeld': true });
  await assert.rejects(wrong.agentsEnabled(), { ...lost, message: /agent\.enabeld/ });
  await assert.rejects(async () => wrong.executeForAgent('1'), { ...lost, message: /agent\.enabeld/ });
  await assert.rejects(open({}, { configFile: join(folder, 'none') }).agentSessions(), { ...lost, message: /none/ });
});

const wrongOptions = [
  ['source', undefined, {}],
  ['source', 42, {}],
  ['options', '', null],
  ['options', '', []],
  ['options.color', '', { color: 'red' }],
  ['options.globals', '', { globals: {} }],
  ['options.toString', '', { toString: 1 }],
  ['options.language', '', { language: 'cobol' }],
  ['options.language', '', { language: 1 }],
  ['options.args', '', { args: {} }],
  ['options.conversation', '', { conversation: 1 }],
  ['options.conversation', '', { conversation: 'a\0b' }],
  ['options.conversation', '', { session: true }],
  ['options.conversation', '', { session: 'x', conversation: '' }],
  ['options.turn', '', { turn: 1 }],
  ['options.purpose', '', { purpose: {} }],
  ['options.session', '', { session: 1, conversation: 'c' }],
  ['options.session', '', { session: '', conversation: 'c' }],
  ['options.tier', '', { tier: 'all' }],
  ...['timeoutMs', 'memoryBytes', 'outputBytes', 'resultBytes'].flatMap((limit) =>
    [0, -1, 1.5, NaN, '1'].map((value) => [`options.${limit}`, '', { [limit]: value }]),
  ),
  ...['onPending', 'onOutput', 'onPrompt'].map((listener) => [`options.${listener}`, '', { [listener]: true }]),
];
for (const [name, source, options] of wrongOptions) {
  test(`${name} of ${JSON.stringify(options)}, source ${source}`, () => {
    assert.throws(
      () => new Glovebox({ path: '/nowhere' }).executeForAgent(source, options),
      (error) => error instanceof TypeError && error.message.startsWith(`${name}: `),
    );
  });
}

test('invalid arguments of the session methods are named', async () => {
  const nowhere = new Glovebox({ path: '/nowhere' });
  await assert.rejects(nowhere.agentSessions({ conversation: 'c' }), { name: 'TypeError', message: /^conversation: / });
  await assert.rejects(nowhere.killAgentSession(), { name: 'TypeError', message: /^session: / });
  await assert.rejects(nowhere.cleanupAgentSessions(), { name: 'TypeError', message: /^conversation: / });
});

for (const [path, args] of [
  ['args[0]', [() => {}]],
  ['args[1].a', [1, { a: Promise.resolve() }]],
  ['args[0]', [Symbol()]],
]) {
  test(`${path} of ${String(args[0])} cannot cross`, () => {
    assert.throws(
      () => openToAll.executeForAgent('', { args }),
      (error) => error instanceof SerializationError && error.path === path && /cannot cross/.test(error.message),
    );
  });
}

/** A Glovebox without a sandbox: the source is the script of the fake server. */
const fake = (more) => open(undefined, { command: [process.execPath, fakeServer], configFile: undefined, ...more });

test('all given options are sent, and no others', async () => {
  const lines = '[["lines"]]';
  const client = fake({ limits: { timeoutMs: 5, outputBytes: 6, maxCalls: 7 } });
  const texts = { language: 'shell', conversation: 'c', turn: 't', purpose: 'p', session: 'x', tier: 'network', onInput: 'wait', restricted: true, expectedOutput: 'e', trace: { from: [1] } };
  const limits = { timeoutMs: 1, memoryBytes: 2, outputBytes: 3, resultBytes: 4 };
  const listeners = { onPending() {}, onOutput() {}, onPrompt() {} };
  await client.executeForAgent(lines, { language: undefined, session: undefined, timeoutMs: undefined });
  const { result } = await client.executeForAgent(lines, { ...texts, ...limits, ...listeners, args: [1n] });
  assert.deepEqual(JSON.parse(result), [
    { type: 'execute', run: 1, source: lines, limits: { timeoutMs: 5, outputBytes: 6 } },
    { type: 'execute', run: 2, source: lines, ...texts, limits, args: [{ $type: 'bigint', value: '1' }] },
  ]);
  const bare = await fake().executeForAgent(lines);
  assert.deepEqual(JSON.parse(bare.result), [{ type: 'execute', run: 1, source: lines }]);
});

test('a run that waits for input ends, or gets the input after its approval', async () => {
  const options = { language: 'shell', conversation: 'inputs', session: true };
  const ended = await openToAll.executeForAgent('read -p "sure? " x', options);
  assert.deepEqual([ended.status, ended.error.code], ['terminated', 'awaiting_input']);
  assert.match(ended.error.message, /sure\? $/);
  const { run, pending } = await ask('read -p "sure? " x; echo "x=$x"', { ...options, onInput: 'wait', onPrompt });
  let awaited;
  const prompted = new Promise((resolve) => (awaited = resolve));
  function onPrompt(prompt, session) {
    awaited({ prompt, session });
  }
  await decide('approve', pending.approval);
  const { prompt, session } = await prompted;
  assert.equal(prompt, 'sure? ');
  const approval = await new Promise((resolve, reject) => {
    const input = asking.inputForAgent('yes\n', { conversation: 'inputs', session, onPending: resolve });
    input.then(({ status }) => assert.equal(status, 'success')).catch(reject);
  });
  const shown = await decide('show', approval.approval);
  assert.match(shown.stdout, /answers +\{"prompt":"sure\? "\}/);
  assert.match(shown.stdout, /This text is typed/);
  await decide('approve', approval.approval);
  assert.match((await succeeds(run)).stdout, /x=yes/);
  assert.throws(() => asking.inputForAgent('x', { conversation: 'c' }), /options.session/);
  await isRefused('not_awaiting_input', openToAll.inputForAgent('x', { conversation: 'inputs', session: ended.session }));
});

test('callbacks are called for each message', async () => {
  const heard = [];
  const pending = (expiresAt) => ({ type: 'pending', approval: `a${expiresAt}`, expiresAt });
  const script = [pending(1), pending(2), { type: 'prompt', session: 's', prompt: 'name? ' }, 'done'];
  await fake().executeForAgent(JSON.stringify([script]), {
    onPending: ({ approval, expiresAt }) => heard.push([approval, expiresAt.getTime()]),
    onPrompt: (prompt, session) => heard.push(prompt, session),
  });
  assert.deepEqual(heard, [['a1', 1], ['a2', 2], 'name? ', 's']);
  await fake().executeForAgent(JSON.stringify([script])); // without callbacks
});

test('a rejected request and a lost connection are errors', async () => {
  const error = { type: 'error', about: 'execute', code: 'refused', message: 'too many', field: 'run' };
  const refused = fake().executeForAgent(JSON.stringify([[error]]));
  await assert.rejects(async () => refused, { name: 'GloveboxError', code: 'refused', field: 'run' });
  assert.equal(refused.running, false);
  const pending = { type: 'pending', approval: 'a', expiresAt: 1 };
  const lost = fake().executeForAgent(JSON.stringify([[pending, 'die']]));
  await assert.rejects(async () => lost, { code: 'connection_lost' });
});

test('a closed Glovebox rejects requests', async () => {
  const closed = open({});
  await closed.close();
  await assert.rejects(async () => closed.executeForAgent('1'), { code: 'closed' });
  await assert.rejects(closed.agentsEnabled(), (error) => error instanceof GloveboxError && error.code === 'closed');
});

test('agentsEnabled does not keep the program alive', () => {
  const source = `
    import { Glovebox } from 'glovebox';
    const glovebox = new Glovebox();
    console.log(await glovebox.agentsEnabled(), await glovebox.agentsEnabled());`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', source], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: { ...env, GLOVEBOX_CONFIG: configFile, GLOVEBOX_PATH: process.env.GLOVEBOX_PATH },
    encoding: 'utf8',
  });
  assert.equal(output, 'false false\n');
});

test('an added secret is masked in runs of agents and of the caller', async () => {
  const glovebox = open({ 'agent.enabled': true, 'agent.autoApprove': true });
  const source = "export default 'correct' + '-horse-9'";
  assert.equal((await glovebox.runCode(source)).result, 'correct-horse-9');
  await glovebox.addSecret('HORSE', 'correct-horse-9');
  assert.equal((await glovebox.runCode(source)).result, '***');
  assert.equal((await glovebox.executeForAgent(source)).result, '***');
  await assert.rejects(glovebox.addSecret('SHORT', 'abc'), GloveboxError);
  await assert.rejects(glovebox.addSecret('NONE', 7), { name: 'TypeError', message: /^value: / });
});

test('coreExecute gives the text of the value, or says why there is none, and never rejects', async () => {
  const { output } = await openToAll.coreExecute({ purpose: 'a sum', code: 'return {sum: 1 + 2}' });
  assert.equal(output, '{"sum":3}');
  const call = async (glovebox, args) => (await glovebox.coreExecute(args)).output;
  assert.equal(await call(openToAll, { purpose: 'x', code: 'throw new Error("boom")' }), 'EXECUTION_ERROR: boom');
  assert.equal(await call(openToAll, { purpose: 'x' }), 'EXECUTION_ERROR: code: is missing');
  assert.match(await call(closedToAll, { purpose: 'x', code: 'return 1' }), /^EXECUTION_DENIED: agents may not/);
  const circular = { purpose: 'x', code: 'return 1' };
  circular.trace = circular;
  assert.match(await call(openToAll, circular), /^EXECUTION_ERROR: /);
  const closed = new Glovebox({ configFile, env });
  await closed.close();
  assert.match(await call(closed, { purpose: 'x', code: 'return 1' }), /^EXECUTION_ERROR: this Glovebox has been closed/);
});

test('coreExecute tells that it waits for approval', async () => {
  const output = new Promise((resolve) => {
    const answer = asking.coreExecute(
      { purpose: 'x', code: 'return 6 * 7' },
      { onPending: ({ approval }) => decide('approve', approval) },
    );
    resolve(answer);
  });
  assert.deepEqual(await output, { output: '42' });
});
