// The conformance suite of MCP over a bridge to HTTP. The server has the suite's fixtures, which only the test program has.
// Prints TAP. scripts/test-mcp starts it.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { startBridge } from './bridge.mjs';

const program = resolve(process.env.GB_MCP_MODULES, '@modelcontextprotocol/conformance/dist/index.js');

// The scenarios that a server of this kind can meet, by the versions in which they are run.
const BOTH = ['tools-list', 'tools-call-simple-text', 'tools-call-image', 'tools-call-audio',
  'tools-call-embedded-resource', 'tools-call-mixed-content', 'tools-call-error', 'tools-call-with-progress',
  'resources-list', 'resources-read-text', 'resources-read-binary', 'resources-templates-read', 'prompts-list',
  'prompts-get-simple', 'prompts-get-with-args', 'prompts-get-embedded-resource', 'prompts-get-with-image'];
const SCENARIOS = {
  '2025-11-25': ['server-initialize', 'ping', ...BOTH],
  '2026-07-28': ['caching', 'sep-2164-resource-not-found', ...BOTH],
};
// Those that are not run, and why.
const LEFT_OUT = {
  'of HTTP itself': ['server-session-lifecycle', 'server-sse-polling', 'server-sse-multiple-streams',
    'dns-rebinding-protection', 'http-header-validation', 'http-custom-header-server-validation'],
  'server-stateless, most of whose checks are of HTTP; its errors are tested by tests/e2e/mcp.py': ['server-stateless'],
  'of optional features that the server does not declare': ['logging-set-level', 'completion-complete',
    'tools-call-with-logging', 'tools-call-sampling', 'resources-subscribe', 'resources-unsubscribe'],
  'of schemas of the fixture itself': ['json-schema-2020-12'],
  'of dialogs that the fixture itself would open; those of the server are tested with real clients':
    ['tools-call-elicitation', 'elicitation-sep1034-defaults', 'elicitation-sep1330-enums', 'input-required-result-*'],
};

const folder = mkdtempSync(join(tmpdir(), 'glovebox-conformance-'));
const bridge = await startBridge(resolve(process.env.GB_MCP_FIXTURES), [folder]);
let count = 0;
let failures = 0;
const check = (version, scenario) => new Promise((done) => {
  const args = [program, 'server', '--url', bridge.url, '--scenario', scenario, '--spec-version', version];
  execFile(process.execPath, args, { cwd: folder, timeout: 60000 }, (error, stdout, stderr) => {
    const said = stdout + stderr;
    const passed = Number(/(\d+) passed/.exec(said)?.[1] ?? /(\d+)\/\d+/.exec(said)?.[1] ?? 0);
    const good = !error && passed > 0;
    count += 1;
    if (!good) {
      failures += 1;
      console.log(said.split('\n').slice(-30).map((line) => `# ${line}`).join('\n'));
    }
    console.log(`${good ? 'ok' : 'not ok'} ${count} - ${version}: ${scenario}`);
    done();
  });
});
for (const [reason, names] of Object.entries(LEFT_OUT)) console.log(`# not run, ${reason}: ${names.join(', ')}`);
for (const [version, scenarios] of Object.entries(SCENARIOS)) for (const scenario of scenarios) await check(version, scenario);
// Two scenarios of the suite pass although the tool is missing.
for (const [tool, isError] of [['test_simple_text', undefined], ['test_error_handling', true], ['no_such_tool', undefined]]) {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool } };
  const response = await fetch(bridge.url, { method: 'POST', body: JSON.stringify(body) });
  const reply = await response.json();
  const good = tool === 'no_such_tool' ? reply.error.code === -32602 : reply.result.isError === isError &&
    reply.result.content[0].text.includes('for testing');
  count += 1;
  failures += good ? 0 : 1;
  console.log(`${good ? 'ok' : 'not ok'} ${count} - ${tool} is answered as it should be`);
}
await bridge.close();
rmSync(folder, { recursive: true, force: true });
console.log(`1..${count}`);
process.exit(failures ? 1 : 0);
