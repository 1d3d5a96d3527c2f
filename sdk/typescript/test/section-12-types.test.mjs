/* The types, as a program in TypeScript meets them. */
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tsc } from './helpers.mjs';

const source = fileURLToPath(new URL('types.ts', import.meta.url));
const strict = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--target', 'es2022', '--lib', 'es2022'];

// Without the types of Node.js, and with declarations checked: ours need nobody else's.
for (const [module, resolution] of [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
]) {
  test(`12 the types are those of the reference, resolved as ${resolution}`, () => {
    tsc([...strict, '--module', module, '--moduleResolution', resolution, '--typeRoots', 'none', source]);
  });
}
