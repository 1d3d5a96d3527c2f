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
  'prompts-get-simple', 'prompts-get-with-args', 'prompts-get-embedded-resource', 'prompts-get-with-image',
  'json-schema-2020-12'];
const SCENARIOS = {
  '2025-11-25': ['server-initialize', 'ping', ...BOTH],
  '2026-07-28': ['caching', 'sep-2164-resource-not-found', ...BOTH, 'input-required-result-result-type',
    'input-required-result-tampered-state', 'input-required-result-unsupported-methods'],
};
// Those that are not run, and why.
const LEFT_OUT = {
  'of HTTP itself': ['server-session-lifecycle', 'server-sse-polling', 'server-sse-multiple-streams',
    'dns-rebinding-protection', 'http-header-validation', 'http-custom-header-server-validation'],
  'server-stateless, most of whose checks are of HTTP; its errors are tested by tests/e2e/mcp.py': ['server-stateless'],
  'of optional features that the server does not declare': ['logging-set-level', 'completion-complete',
    'tools-call-with-logging', 'tools-call-sampling', 'resources-subscribe', 'resources-unsubscribe'],
  'of dialogs with fields, keys and texts that the suite sets; those of the server, which ask for a decision, are tested with real clients':
    ['tools-call-elicitation', 'elicitation-sep1034-defaults', 'elicitation-sep1330-enums',
      'input-required-result-basic-elicitation', 'input-required-result-request-state',
      'input-required-result-multiple-input-requests', 'input-required-result-multi-round',
      'input-required-result-missing-input-response', 'input-required-result-non-tool-request',
      'input-required-result-ignore-extra-params', 'input-required-result-validate-input'],
  'of sampling and roots, which the server does not ask for': ['input-required-result-basic-sampling',
    'input-required-result-basic-list-roots', 'input-required-result-capability-check'],
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
// The suite's own list: a scenario of a later version is run, or left out for a reason.
const listed = await new Promise((done) => {
  execFile(process.execPath, [program, 'list', '--server'], (error, stdout) => done(stdout));
});
const known = new Set([...Object.values(SCENARIOS), ...Object.values(LEFT_OUT)].flat());
for (const version of Object.keys(SCENARIOS)) {
  const ofVersion = [...listed.matchAll(/^ +- (\S+) \[(.*)\]$/gm)].filter((one) => one[2].split(',').includes(version));
  const unknown = ofVersion.map((one) => one[1]).filter((name) => !known.has(name));
  count += 1;
  if (unknown.length || !ofVersion.length) {
    failures += 1;
    console.log(`# ${unknown.join(', ')}`);
  }
  console.log(`${unknown.length || !ofVersion.length ? 'not ok' : 'ok'} ${count} - ${version}: each of the ${ofVersion.length} ` +
    'scenarios is run, or left out for a reason');
}
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
