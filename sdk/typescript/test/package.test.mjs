/* The published package: packed, installed into an empty project, imported, run, and its types resolved. */
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tsc } from './helpers.mjs';

const home = fileURLToPath(new URL('..', import.meta.url));
const project = mkdtempSync(join(tmpdir(), 'glovebox-package-'));
after(() => rmSync(project, { recursive: true }));

const npm = (args, cwd) =>
  execFileSync('npm', [...args, '--offline', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, npm_config_cache: join(project, 'cache') },
  });

const [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', project], home));

test('the package has no unneeded files', () => {
  const names = packed.files.map(({ path }) => path);
  for (const name of names) assert.match(name, /^(dist\/[\w-]+(\.d\.ts|\.js)|README\.md|package\.json)$/);
  for (const name of ['dist/index.js', 'dist/index.d.ts', 'README.md']) assert.ok(names.includes(name), name);
});

test('no dependencies at run time, and no install scripts', () => {
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  for (const field of ['dependencies', 'peerDependencies', 'optionalDependencies', 'scripts']) {
    assert.equal(manifest[field], undefined, field);
  }
});

test('the package can be imported and run in an empty project', () => {
  writeFileSync(join(project, 'package.json'), '{"name":"empty","private":true,"type":"module"}');
  npm(['install', join(project, packed.filename)], project);
  writeFileSync(
    join(project, 'app.js'),
    "import { runCode } from 'glovebox';\nconsole.log((await runCode('export default 6 * 7')).result);\n",
  );
  assert.equal(execFileSync(process.execPath, ['app.js'], { cwd: project, encoding: 'utf8' }), '42\n');
});

test('the types resolve in an empty project', () => {
  writeFileSync(
    join(project, 'app.ts'),
    "import { runCode, type CodeExecution } from 'glovebox';\nexport const run: CodeExecution = runCode('export default 1');\n",
  );
  tsc(
    [
      '--strict',
      '--noEmit',
      '--target',
      'es2022',
      '--lib',
      'es2022',
      '--module',
      'nodenext',
      '--typeRoots',
      'none',
      'app.ts',
    ],
    project,
  );
});

test('internal files of the package cannot be imported', async () => {
  await assert.rejects(import('glovebox/dist/encode.js'), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' });
});
