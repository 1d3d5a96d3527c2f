/* What the tests share. Importing this points the SDK at the program under test. */
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runCode } from 'glovebox';

process.env.GLOVEBOX_PATH ??=
  process.env.GB_GLOVEBOX ?? fileURLToPath(new URL('../../../build/glovebox', import.meta.url));

export const fakeServer = fileURLToPath(new URL('fake-server.mjs', import.meta.url));
export const compiler = fileURLToPath(new URL('../../../.deps/node/node_modules/typescript/bin/tsc', import.meta.url));

/** The value that `source` exports; fails the test if it does not. */
export async function valueOf(source, options) {
  const result = await runCode(source, options);
  assert.equal(result.status, 'success', `${result.status}: ${result.error?.name}: ${result.error?.message}`);
  return result.result;
}

/** The result of a run that is to end with `status`. */
export async function endsWith(status, source, options) {
  const result = await runCode(source, options);
  assert.equal(result.status, status, JSON.stringify(result.error));
  assert.equal(status === 'success', result.error === undefined);
  assert.equal(status === 'success', 'result' in result);
  return result;
}

/** The code in a tight loop, which nothing but the end of its process stops. */
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

/** A reason to skip what is written with types, until there is a Glovebox that erases them. */
export async function typesReason() {
  const { status } = await runCode('const one: number = 1; export default one');
  return status === 'success' ? false : 'types are not erased yet';
}
