/* Usage patterns. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { runCode } from 'glovebox';
import { FOREVER } from './helpers.mjs';

const state = { runCode, readFile: async (path) => `{"from":"${path}"}` };

test('10.1 one value', async () => {
  const { result } = await state.runCode(
    `
      const n = input.reduce((a, b) => a + b, 0);
      export default n;
    `,
    { globals: { input: [1, 2, 3] } },
  );
  assert.equal(result, 6);
});

const flagRows = `
  import { report } from 'supervisor';
  for (const row of rows) {
    if (row.flagged) report(row.id);
  }
`;
const rows = [
  { id: 1, flagged: true },
  { id: 2, flagged: false },
  { id: 3, flagged: true },
];

test('10.2 flagging items: reports without a default export', async () => {
  const flaggedIds = new Set();
  const result = await state.runCode(flagRows, {
    globals: { rows },
    imports: { supervisor: { report: (id) => flaggedIds.add(id) && undefined } },
  });
  assert.deepEqual([...flaggedIds], [1, 3]);
  assert.equal(result.status, 'link_error');
});

test('10.2 flagging items, with a report callback that returns an unexpected value', async () => {
  const flaggedIds = new Set();
  const result = await state.runCode(`${flagRows}export default 'done'`, {
    globals: { rows },
    imports: { supervisor: { report: (id) => flaggedIds.add(id) } },
  });
  assert.deepEqual([...flaggedIds], [1, 3]);
  assert.equal(result.result, 'done');
});

test('10.3 code of a model with a deadline: in time', async () => {
  const userCode = 'export default JSON.parse(input).from';
  const run = state.runCode(userCode, {
    memoryLimitBytes: 64 * 1024 * 1024,
    globals: { input: await state.readFile('/data/input.json') },
  });
  const deadline = setTimeout(() => run.terminate('2s budget'), 60_000);
  const result = await run;
  clearTimeout(deadline);
  assert.equal(result.result, '/data/input.json');
});

test('10.3 code of a model with a deadline: too late', async () => {
  const run = state.runCode(FOREVER, { memoryLimitBytes: 64 * 1024 * 1024 });
  const deadline = setTimeout(() => run.terminate('2s budget'), 50);
  const result = await run;
  clearTimeout(deadline);
  assert.notEqual(result.status, 'success');
  assert.equal(result.error.message, '2s budget');
});

/** A tool, as an agent's framework would define it. */
const evaluate = {
  description: 'Evaluate an expression against thread data',
  execute: async (state, { code }) => {
    const run = state.runCode(code, {
      imports: { thread: { readFile: (path) => state.readFile(path) } },
    });
    const deadline = setTimeout(() => run.terminate('2s budget'), 60_000);
    const result = await run;
    clearTimeout(deadline);
    return result.status === 'success'
      ? { status: 'success', result: JSON.stringify(result.result) }
      : { status: 'error', error: result.error?.message ?? 'run failed' };
  },
};

test('10.4 a tool around runCode', async () => {
  const code = "import { readFile } from 'thread'; export default JSON.parse(await readFile('/a'))";
  assert.deepEqual(await evaluate.execute(state, { code }), { status: 'success', result: '{"from":"/a"}' });
  assert.deepEqual(await evaluate.execute(state, { code: 'throw new Error("bad idea")' }), {
    status: 'error',
    error: 'bad idea',
  });
});
