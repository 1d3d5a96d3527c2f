/* The types, as seen by a program in TypeScript. */
import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { compiler, tsc } from './helpers.mjs';

const source = fileURLToPath(new URL('types.ts', import.meta.url));
const strict = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--target', 'es2022', '--lib', 'es2022'];

// Without the types of Node.js, and with declarations checked: the SDK's declarations need no others.
for (const [module, resolution] of [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
]) {
  test(`12 the types are those of the reference, resolved as ${resolution}`, () => {
    tsc([...strict, '--module', module, '--moduleResolution', resolution, '--typeRoots', 'none', source]);
  });
}

const contract = fileURLToPath(new URL('contract.ts', import.meta.url));
const resolved = ['--module', 'nodenext', '--moduleResolution', 'nodenext', '--typeRoots', 'none'];

for (const flags of [['--strict'], ['--strict', '--exactOptionalPropertyTypes']]) {
  test(`12 the contract and the SDK assign to each other under ${flags.join(' ')}`, () => {
    tsc([...flags, '--noEmit', '--target', 'es2022', '--lib', 'es2022', ...resolved, contract]);
  });
}

/** Copies of the contract: in each, one field of one type is renamed. */
function changedCopies() {
  const text = readFileSync(contract, 'utf8');
  const end = text.indexOf('type RunCode');
  const field = /^( +)(readonly )?(\w+)(\??[:(])/gm;
  const copies = [];
  for (const { index, 0: all, 1: space, 2: readonly = '', 3: name, 4: rest } of text.slice(0, end).matchAll(field)) {
    const copy = `${text.slice(0, index)}${space}${readonly}${name}Changed${rest}${text.slice(index + all.length)}`;
    copies.push({ name: `${name}-${index}.ts`, copy });
  }
  const edits = [
    ["'success' | 'error'", "'success' | 'failure'"],
    ['durationMs: number', 'durationMs: string'],
    ['result?: unknown', 'result: unknown'],
    ['(reason?: string)', '(reason: number)'],
    ['(source: string, options', '(source: number, options'],
    ["language?: 'javascript'", "language?: 'python' | 'javascript'"],
  ];
  for (const [from, to] of edits) {
    assert.ok(text.includes(from), from);
    copies.push({ name: `edit-${copies.length}.ts`, copy: text.replace(from, to) });
  }
  return copies;
}

test('12 a contract with any field changed does not assign', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gb-changed-'));
  try {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(fileURLToPath(new URL('..', import.meta.url)), join(folder, 'node_modules', 'glovebox'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'same.ts'), readFileSync(contract));
    const copies = changedCopies();
    assert.equal(copies.length, 36);
    for (const { name, copy } of copies) writeFileSync(join(folder, name), copy);
    const args = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022', ...resolved];
    const names = copies.map(({ name }) => name);
    const { stdout } = spawnSync(process.execPath, [compiler, ...args, 'same.ts', ...names], { cwd: folder, encoding: 'utf8' });
    assert.ok(!stdout.includes('same.ts('), stdout); // the failures below are due to the change
    for (const name of names) assert.ok(stdout.includes(`${name}(`), `${name} compiles`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
