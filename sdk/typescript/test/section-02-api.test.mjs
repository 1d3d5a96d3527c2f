/* The API: source, options and handle. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { runCode } from 'glovebox';
import { endsWith, FOREVER, later, until, valueOf } from './helpers.mjs';

test('2.1 the source is an ECMAScript module', async () => {
  assert.equal(await valueOf('export default this === undefined'), true);
  assert.equal(await valueOf('const one = await 1; export default one'), 1);
});

test('2.1 options may be left out', async () => {
  assert.equal((await runCode('export default 6 * 7')).result, 42);
});

test('2.2 await gives the final result', async () => {
  const result = await runCode('export default "done"');
  assert.equal(result.status, 'success');
  assert.equal(result.result, 'done');
});

test('2.2 the handle is a PromiseLike', async () => {
  const run = runCode('export default 1');
  assert.equal(typeof run.then, 'function');
  assert.equal(await run.then(({ result }) => result + 1), 2);
  assert.equal((await Promise.all([run, run]))[1].result, 1);
  assert.equal((await Promise.race([run])).result, 1);
});

test('2.2 await gives the same result each time', async () => {
  const run = runCode('export default {}');
  assert.equal(await run, await run);
});

test('2.2 terminate stops the run, even a tight loop', async () => {
  const run = runCode(FOREVER);
  run.terminate();
  const { status, error } = await run;
  assert.equal(status, 'terminated');
  assert.ok(error.message);
});

test('2.2 terminate stops a run in the middle', async () => {
  let started = false;
  const run = runCode('started(); while (true) {}', { globals: { started: () => void (started = true) } });
  await until(() => started);
  run.terminate('seen enough');
  assert.equal((await run).error.message, 'seen enough');
});

test('2.2 terminate stops a run that waits for the host', async () => {
  let called = false;
  const wait = () => {
    called = true;
    return new Promise(() => {});
  };
  const run = runCode('await wait()', { globals: { wait } });
  await until(() => called);
  run.terminate('no answer');
  assert.equal((await run).error.message, 'no answer');
});

test('2.2 further calls of terminate do nothing', async () => {
  const run = runCode(FOREVER);
  run.terminate('first');
  run.terminate('second');
  const result = await run;
  run.terminate('third');
  assert.equal(result.status, 'terminated');
  assert.equal(result.error.message, 'first');
  assert.equal(await run, result);
});

for (const [name, reason, message] of [
  ['with U+0000', 'a\0b', 'a\ufffdb'],
  ['with half of a surrogate pair', 'a\ud800', 'a\ud800'],
  ['that is empty', '', ''],
  ['that is no string', 17, '17'],
  ['that has no text', { toString: () => { throw new Error('no') } }, 'a reason that cannot be shown'],
  ['that is longer than a line may be', 'x'.repeat(200 * 1024 * 1024), 'x'.repeat(4095)],
]) {
  test(`2.2 terminate ends the run, with a reason ${name}`, async () => {
    const run = runCode(FOREVER);
    run.terminate(reason);
    const { status, error } = await run;
    assert.equal(status, 'terminated');
    assert.equal(error.message, message);
  });
}

test('2.2 the handle has only the members of the contract', async () => {
  const run = runCode('export default 1');
  assert.deepEqual(Object.keys(run).sort(), ['reports', 'running', 'terminate', 'then']);
  await run;
});

test('2.2 terminate after the end does nothing', async () => {
  const run = runCode('export default 1');
  const result = await run;
  run.terminate('late');
  await later(10);
  assert.equal((await run).status, 'success');
  assert.equal(await run, result);
});

test('2.2 running turns false when the handle settles', async () => {
  const run = runCode('export default 1');
  assert.equal(run.running, true);
  await run;
  assert.equal(run.running, false);
});

test('2.2 running stays true until a terminated run has settled', async () => {
  const run = runCode(FOREVER);
  run.terminate();
  assert.equal(run.running, true);
  await run;
  assert.equal(run.running, false);
});

test('2.2 reports are live and only grow', async () => {
  const lengths = [];
  const run = runCode('for (let i = 1; i <= 3; i++) await report(i)', {
    report: () => void lengths.push(run.reports.length),
    execute: { fn: 'default' },
  });
  const view = run.reports;
  assert.deepEqual([...view], []);
  const result = await run;
  assert.deepEqual(lengths, [1, 2, 3]);
  assert.deepEqual([...view], [1, 2, 3]);
  assert.deepEqual(result.reports, [1, 2, 3]);
});

test('2.2 reports can be read while the code runs', async () => {
  const run = runCode('report({ step: 1 }); while (true) {}', { report: () => {} });
  await until(() => run.reports.length === 1);
  assert.deepEqual(run.reports[0], { step: 1 });
  assert.equal(run.running, true);
  run.terminate();
  const result = await run;
  assert.equal(result.reports[0], run.reports[0]);
});

test('2.2 a caller’s own time budget', async () => {
  const run = runCode(FOREVER);
  const budget = setTimeout(() => run.terminate('0.1 s budget'), 100);
  const result = await run;
  clearTimeout(budget);
  assert.equal(result.status, 'terminated');
  assert.equal(result.error.message, '0.1 s budget');
});

const scan = `
  import { readFile } from 'fs';
  import { report } from 'supervisor';

  const message = await getMessage();
  if (/username/.test(message)) {
    report({ topic: 'username', message });
  }

  export async function scan() {
    return { scanned: true };
  }
`;

function scanOptions(message, sink) {
  return {
    execute: { fn: 'scan', args: [] },
    imports: {
      fs: { readFile: async (path) => `contents of ${path}` },
      supervisor: { report: (payload) => void sink.push(payload) },
    },
    globals: {
      console: { log: () => {} },
      getMessage: async () => message,
    },
  };
}

test('2.3 the example', async () => {
  const sink = [];
  const result = await endsWith('success', scan, scanOptions('latest user message', sink));
  assert.deepEqual(result.result, { scanned: true });
  assert.deepEqual(sink, []);
  assert.deepEqual(result.reports, []);
});

test('2.3 the example, with something to find', async () => {
  const sink = [];
  await endsWith('success', scan, scanOptions('my username is x', sink));
  assert.deepEqual(sink, [{ topic: 'username', message: 'my username is x' }]);
});
