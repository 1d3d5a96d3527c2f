/* Helpers of the tests. Importing this file makes the SDK use the program under test. */
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runCode } from 'glovebox';

process.env.GLOVEBOX_PATH ??=
  process.env.GB_GLOVEBOX ?? fileURLToPath(new URL('../../../build/glovebox', import.meta.url));

export const fakeServer = fileURLToPath(new URL('fake-server.mjs', import.meta.url));
export const compiler = fileURLToPath(new URL('../../../.deps/node/node_modules/typescript/bin/tsc', import.meta.url));

/** The value that `source` exports; the test fails if the run does not succeed. */
export async function valueOf(source, options) {
  const result = await runCode(source, options);
  assert.equal(result.status, 'success', `${result.status}: ${result.error?.name}: ${result.error?.message}`);
  return result.result;
}

/** The result of a run, which must end with `status`. */
export async function endsWith(status, source, options) {
  const result = await runCode(source, options);
  assert.equal(result.status, status, JSON.stringify(result.error));
  assert.equal(status === 'success', result.error === undefined);
  assert.equal(status === 'success', 'result' in result);
  return result;
}

/** The code in a tight loop, which only the end of its process stops. */
export const FOREVER = 'while (true) {}';

export function tsc(args, cwd) {
  try {
    return execFileSync(process.execPath, [compiler, ...args], { cwd, encoding: 'utf8' });
  } catch (error) {
    throw new Error(`tsc ${args.join(' ')}:\n${error.stdout}`);
  }
}

export function later(ms = 0) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Resolves when `condition` holds. */
export async function until(condition) {
  while (!(await condition())) await later(5);
}

/** The reason to skip tests with types, if the Glovebox under test cannot erase them. */
export async function typesReason() {
  const { status } = await runCode('const one: number = 1; export default one');
  return status === 'success' ? false : 'types are not erased yet';
}
