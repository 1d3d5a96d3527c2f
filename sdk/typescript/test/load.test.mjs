/* Many runs through one process: all results are right, and no memory leaks. */
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Glovebox, runCode } from 'glovebox';
import './helpers.mjs';

const RUNS = Number(process.env.GB_SDK_RUNS ?? 1000);
const CALLS = 10;
const MEGABYTE = 1024 * 1024;

/** Half of the calls are answered at once, half later; the code checks each of them. */
const source = `
  let sum = 0;
  for (let i = 0; i < ${CALLS}; i++) sum += i % 2 ? add(base, i) : await addLater(base, i);
  export default sum;
`;

async function round(client) {
  let calls = 0;
  const runs = Array.from({ length: RUNS }, (_, base) => {
    const add = (a, b) => (calls++, a + b + base);
    return client.runCode(source, { globals: { base, add, addLater: async (a, b) => add(a, b) } });
  });
  const results = await Promise.all(runs);
  results.forEach(({ status, result, error }, base) => {
    assert.equal(status, 'success', `${status}: ${error?.message}`);
    assert.equal(result, CALLS * 2 * base + (CALLS * (CALLS - 1)) / 2);
  });
  assert.equal(calls, RUNS * CALLS);
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/** What is reachable here. The resident size would also have what the collector has not given back. */
function ownMemory() {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function serverMemory() {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean);
  const pages = readFileSync(`/proc/${children.at(-1)}/statm`, 'utf8').split(' ')[1];
  return Number(pages) * 4096;
}

test(`rounds of ${RUNS} concurrent runs with ${CALLS} calls each: all results right, no leak`, async () => {
  const client = new Glovebox();
  const here = [];
  const there = [];
  for (let i = 0; i < 5; i++) {
    await round(client);
    here.push(ownMemory());
    there.push(serverMemory());
  }
  await client.close();
  // The number of runs that overlap varies, so a round may take more memory than another; leaked memory would show in
  // all later rounds.
  const growth = (sizes) => Math.min(...sizes.slice(3)) - Math.min(...sizes.slice(0, 2));
  assert.ok(growth(here) < 2 * MEGABYTE, `here: ${here.map((n) => (n / MEGABYTE).toFixed(0))}`);
  if (!process.env.ASAN_OPTIONS) {
    assert.ok(growth(there) < 16 * MEGABYTE, `there: ${there.map((n) => (n / MEGABYTE).toFixed(0))}`);
  }
});

test('large values, in both directions at once', async () => {
  const bytes = new Uint8Array(4 * MEGABYTE).map((_, i) => i * 31);
  const echo = (value) => value;
  const options = { globals: { bytes, echo }, memoryLimitBytes: 256 * MEGABYTE };
  const runs = Array.from({ length: 4 }, () => runCode('export default echo(bytes)', options));
  for (const { result, error } of await Promise.all(runs)) {
    assert.equal(error, undefined);
    assert.ok(Buffer.from(result).equals(bytes));
  }
});

test('a hundred runs terminated at any moment', async () => {
  const runs = Array.from({ length: 100 }, (_, i) => {
    const run = runCode('for (;;) await f()', { globals: { f: async () => {} } });
    setTimeout(() => run.terminate(String(i)), i % 20);
    return run;
  });
  const results = await Promise.all(runs);
  results.forEach(({ status, error }, i) => assert.deepEqual([status, error.message], ['terminated', String(i)]));
});
