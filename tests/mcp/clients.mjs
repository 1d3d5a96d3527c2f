// Client libraries of others, unmodified, against 'glovebox mcp'. Prints TAP. scripts/test-mcp starts it.
//
//   GB_GLOVEBOX=build/glovebox GB_MCP_MODULES=.deps/mcp/node_modules node tests/mcp/clients.mjs
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const glovebox = resolve(process.env.GB_GLOVEBOX);
const modules = resolve(process.env.GB_MCP_MODULES);
// For imports, and for the inspector, which is started as a program.
const load = (name) => import(createRequire(join(modules, 'x.js')).resolve(name));
const run = promisify(execFile);

let count = 0;
let failures = 0;
const ok = (name, good, ...notes) => {
  count += 1;
  if (!good) {
    failures += 1;
    for (const note of notes) console.log('#', (JSON.stringify(note) ?? String(note)).slice(0, 1500));
  }
  console.log(`${good ? 'ok' : 'not ok'} ${count} - ${name}`);
};

const folder = mkdtempSync(join(tmpdir(), 'glovebox-mcp-'));
let folders = 0;
// The program with a state folder of its own.
const server = (...settings) => {
  folders += 1;
  const state = join(folder, `state${folders}`);
  const sets = [`stateDir=${state}`, 'mcp.heartbeat=200ms', ...settings].flatMap((one) => ['--set', one]);
  const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder };
  return { command: glovebox, args: ['mcp', ...sets], env, cwd: folder, stderr: 'ignore', state };
};
const ENABLED = 'agent.enabled=true';
const WAIVED = 'agent.autoApprove=true';
const TRUSTED = 'mcp.trustClientApproval=true';
const call = (name, args) => ({ name, arguments: args });
const text = (result) => result.content[0].text;
const NAMES = ['execute_code', 'send_input', 'list_sessions', 'kill_session', 'read_file', 'write_file', 'list_files'];

// --- the official libraries: version 1, which knows the legacy era, and version 2, which knows both

const legacyLibrary = async () => {
  const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
  const { ElicitRequestSchema } = await load('@modelcontextprotocol/sdk/types.js');
  return {
    name: 'sdk 1',
    async connect(options, capabilities = {}, elicit = undefined) {
      const client = new Client({ name: 'sdk-1', version: '1' }, { capabilities });
      if (elicit) client.setRequestHandler(ElicitRequestSchema, elicit);
      await client.connect(new StdioClientTransport(options));
      return client;
    },
    callTool: (client, params, options) => client.callTool(params, undefined, options),
  };
};

const modernLibrary = async (mode, name) => {
  const { Client } = await load('@modelcontextprotocol/client');
  const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
  return {
    name,
    async connect(options, capabilities = {}, elicit = undefined) {
      const client = new Client({ name: 'sdk-2', version: '1' }, { capabilities, versionNegotiation: { mode } });
      if (elicit) client.setRequestHandler('elicitation/create', elicit);
      await client.connect(new StdioClientTransport(options));
      return client;
    },
    callTool: (client, params, options) => client.callTool(params, options),
  };
};

// Every tool, sessions across calls, progress and cancellation.
const testTools = async (library) => {
  const { name } = library;
  const client = await library.connect(server(ENABLED, WAIVED));
  const tool = (tool_, args, options) => library.callTool(client, call(tool_, args), options);
  const { tools } = await client.listTools();
  ok(`${name}: all tools are listed`, JSON.stringify(tools.map((one) => one.name)) === JSON.stringify(NAMES), tools);
  const first = await tool('execute_code', { runtime: 'python', code: 'x = 20\nprint("hi")\nx + 1' });
  const { sessionId } = first.structuredContent;
  ok(`${name}: code runs, and its result has the schema`, first.structuredContent.stdout === 'hi\n' &&
    first.structuredContent.value === '21' && JSON.parse(text(first)).value === '21', first);
  const second = await tool('execute_code', { runtime: 'python', code: 'x + 2', sessionId });
  ok(`${name}: the session keeps its state`, second.structuredContent.value === '22', second);
  const asked = await tool('execute_code', { runtime: 'shell', code: 'read -p "name? " a; echo "hello $a"' });
  ok(`${name}: a prompt is returned`, asked.structuredContent.awaitingInput.prompt === 'name? ', asked);
  const shell = asked.structuredContent.sessionId;
  const answered = await tool('send_input', { sessionId: shell, text: 'bob' });
  ok(`${name}: and answered`, answered.structuredContent.stdout.includes('hello bob'), answered);
  await tool('write_file', { sessionId: shell, path: 'a.txt', content: 'content' });
  const read = await tool('read_file', { sessionId: shell, path: 'a.txt' });
  ok(`${name}: a file is written and read`, read.structuredContent.content === 'content', read);
  const files = await tool('list_files', { sessionId: shell });
  ok(`${name}: and listed`, files.structuredContent.files[0].path === 'a.txt', files);
  const sessions = await tool('list_sessions', {});
  ok(`${name}: sessions are listed`, sessions.structuredContent.sessions.length === 2, sessions);
  const failed = await tool('execute_code', { runtime: 'python', code: '1/0' });
  ok(`${name}: an error of the code is a result`, failed.isError === true, failed);
  const unknown = await tool('execute_code', { runtime: 'python', code: '1', sessionId: '0'.repeat(32) });
  ok(`${name}: an unknown session is a result`, unknown.isError === true, unknown);

  const messages = [];
  const long = 'import time\nprint("begun", flush=True)\ntime.sleep(0.5)\nprint("ended")';
  const timed = await tool('execute_code', { runtime: 'python', code: long },
    { onprogress: (report) => messages.push(report), timeout: 60000 });
  ok(`${name}: output and heartbeats are reported`, messages.some((one) => one.message === 'begun\n') &&
    messages.some((one) => one.message.startsWith('running')) && timed.structuredContent.stdout.endsWith('ended\n'),
    messages);
  ok(`${name}: the numbers of the reports rise`, messages.every((one, i) => !i || one.progress > messages[i - 1].progress));

  const stop = new AbortController();
  const cancelled = await tool('execute_code', { runtime: 'python', code: 'print("go", flush=True)\nwhile True: pass' },
    { signal: stop.signal, onprogress: () => stop.abort('enough') }).then(() => undefined, (error) => error);
  const after = await tool('execute_code', { runtime: 'python', code: 'x' });
  ok(`${name}: a cancelled call ends, and its session stays`, cancelled && after.structuredContent.value === '20', after);
  const killed = await tool('kill_session', { sessionId });
  ok(`${name}: a session is ended`, killed.structuredContent.killed === true, killed);

  const { resources } = await client.listResources();
  const output = resources.find((one) => one.uri === `glovebox://sessions/${sessionId}/output`);
  const content = output && (await client.readResource({ uri: output.uri })).contents[0].text;
  ok(`${name}: the output of a session is a resource`, content?.startsWith('hi\n'), resources, content);
  const record = resources.find((one) => one.uri.startsWith('glovebox://executions/'));
  const recorded = JSON.parse((await client.readResource({ uri: record.uri })).contents[0].text);
  ok(`${name}: so is a record`, recorded.conversationId.startsWith('mcp-'), recorded);
  const { prompts } = await client.listPrompts();
  const prompt = await client.getPrompt({ name: prompts[0].name });
  ok(`${name}: the prompt is there`, prompt.messages[0].content.text.includes('Running code'), prompt);
  await client.close();
};

const testDecisions = async (library) => {
  const { name } = library;
  const shown = [];
  const answers = [{ action: 'accept', content: { decision: 'approve' } }, { action: 'decline' },
    { action: 'accept', content: { decision: 'trust' } }];
  const elicit = async (request) => {
    shown.push(request.params.message);
    return answers[shown.length - 1];
  };
  const client = await library.connect(server(ENABLED, TRUSTED), { elicitation: { form: {} } }, elicit);
  const execute = (code) => library.callTool(client, call('execute_code', { runtime: 'python', code }));
  const accepted = await execute('print("accepted")');
  ok(`${name}: the user is shown the code, and accepted code runs`, shown[0]?.includes('print("accepted")') &&
    accepted.structuredContent?.stdout === 'accepted\n', shown, accepted);
  const declined = await execute('print("declined")');
  ok(`${name}: declined code does not`, declined.isError === true && text(declined).includes('denied'), declined);
  await execute('1');
  const trusted = await execute('2');
  ok(`${name}: a trusted session is not asked about again`, shown.length === 3 &&
    trusted.structuredContent.value === '2', shown, trusted);
  await client.close();

  const untrusting = server(ENABLED);
  const other = await library.connect(untrusting, { elicitation: { form: {} } }, elicit);
  let approval;
  const waited = library.callTool(other, call('execute_code', { runtime: 'python', code: 'print("owner")' }), {
    onprogress: (report) => {
      const found = /waiting for approval (\w+):/.exec(report.message);
      if (!found || approval) return;
      approval = run(glovebox, ['approvals', 'approve', found[1], '--dir', untrusting.state], { env: untrusting.env });
    },
  });
  const result = await waited;
  await approval;
  ok(`${name}: without trust in the client, the owner decides`, result.structuredContent?.stdout === 'owner\n' &&
    shown.length === 3, result);
  await other.close();
};

const testDisabled = async (library) => {
  const client = await library.connect(server('agent.enabled=false'));
  const { tools } = await client.listTools();
  const said = client.getInstructions();
  ok(`${library.name}: disabled, there are no tools, and the instructions say why`, tools.length === 0 &&
    said.includes('agent.enabled'), tools, said);
  await client.close();
};

// --- the library of the AI SDK, which has a client of its own

const testAiSdk = async () => {
  const { createMCPClient, ElicitationRequestSchema } = await load('@ai-sdk/mcp');
  const { Experimental_StdioMCPTransport: Transport } = await load('@ai-sdk/mcp/mcp-stdio');
  const connect = (options, more = {}) => createMCPClient({ transport: new Transport(options), ...more });
  const client = await connect(server(ENABLED, WAIVED));
  const tools = await client.tools();
  const tool = (name, args) => tools[name].execute(args, { toolCallId: '1', messages: [] });
  ok('ai-sdk: all tools are listed', JSON.stringify(Object.keys(tools)) === JSON.stringify(NAMES), Object.keys(tools));
  const first = await tool('execute_code', { runtime: 'python', code: 'x = 6\nx * 7' });
  const { sessionId, value } = first.structuredContent;
  ok('ai-sdk: code runs', value === '42', first);
  const second = await tool('execute_code', { runtime: 'python', code: 'x', sessionId });
  ok('ai-sdk: the session keeps its state', second.structuredContent.value === '6', second);
  const asked = await tool('execute_code', { runtime: 'shell', code: 'read -p "name? " a; echo "hello $a"' });
  const shell = asked.structuredContent.sessionId;
  const answered = await tool('send_input', { sessionId: shell, text: 'bob' });
  ok('ai-sdk: a prompt is returned and answered', asked.structuredContent.awaitingInput.prompt === 'name? ' &&
    answered.structuredContent.stdout.includes('hello bob'), asked, answered);
  await tool('write_file', { sessionId: shell, path: 'f', content: 'c' });
  const read = await tool('read_file', { sessionId: shell, path: 'f' });
  const files = await tool('list_files', { sessionId: shell });
  ok('ai-sdk: files are written, read and listed', read.structuredContent.content === 'c' &&
    files.structuredContent.files.length === 1, read, files);
  const killed = await tool('kill_session', { sessionId });
  const sessions = await tool('list_sessions', {});
  ok('ai-sdk: sessions are ended and listed', killed.structuredContent.killed &&
    sessions.structuredContent.sessions.length === 2, killed, sessions);
  // This library reports no progress, and does not tell the server that a call was aborted.
  const stop = new AbortController();
  const endless = tools.execute_code.execute({ runtime: 'python', code: 'open("begun", "w")\nwhile True: pass' },
    { toolCallId: '2', messages: [], abortSignal: stop.signal }).then(() => undefined, (error) => error);
  const running = async () => (await tool('list_sessions', {})).structuredContent.sessions
    .find((one) => one.runtime === 'python' && one.state === 'executing');
  while (!await running());
  stop.abort();
  ok('ai-sdk: a call is aborted', await endless);
  const { resources } = await client.listResources();
  ok('ai-sdk: resources are listed', resources.some((one) => one.uri.endsWith('/output')), resources);
  await client.close();

  const elicited = await connect(server(ENABLED, TRUSTED), { capabilities: { elicitation: {} } });
  const answers = [{ action: 'accept', content: { decision: 'approve' } }, { action: 'decline' }];
  elicited.onElicitationRequest(ElicitationRequestSchema, () => answers.shift());
  const mine = await elicited.tools();
  const execute = (code) => mine.execute_code.execute({ runtime: 'python', code }, { toolCallId: '1', messages: [] });
  const accepted = await execute('print("accepted")');
  const declined = await execute('print("declined")');
  ok('ai-sdk: accepted code runs, and declined code does not', accepted.structuredContent?.stdout === 'accepted\n' &&
    declined.isError === true, accepted, declined);
  await elicited.close();
  const disabled = await connect(server('agent.enabled=false'));
  ok('ai-sdk: disabled, there are no tools', Object.keys(await disabled.tools()).length === 0);
  await disabled.close();
};

// --- the inspector's command line

const testInspector = async (era) => {
  const program = join(modules, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');
  const inspect = async (options, ...args) => {
    const all = [program, '--cli', options.command, ...options.args, '--protocol-era', era, ...args];
    const { stdout } = await run(process.execPath, all, { env: options.env, cwd: folder })
      .catch((error) => ({ stdout: error.stdout || String(error) }));
    try {
      return JSON.parse(stdout);
    } catch {
      return { unexpected: stdout };
    }
  };
  const options = server(ENABLED, WAIVED);
  const listed = await inspect(options, '--method', 'tools/list');
  ok(`inspector, ${era}: all tools are listed`, listed.tools?.length === NAMES.length, listed);
  const called = await inspect(options, '--method', 'tools/call', '--tool-name', 'execute_code', '--tool-arg',
    'runtime=python', '--tool-arg', 'code=6*7');
  ok(`inspector, ${era}: code runs`, called.structuredContent?.value === '42', called);
  // Each command is a conversation of its own, and the inspector answers no dialogs. A session of another conversation is
  // refused by a result.
  const tool = (name_, args) => inspect(options, '--method', 'tools/call', '--tool-name', name_, '--tool-args-json',
    JSON.stringify(args));
  const sessionId = called.structuredContent?.sessionId;
  const sessions = await tool('list_sessions', {});
  ok(`inspector, ${era}: list_sessions`, sessions.structuredContent?.sessions?.length === 0, sessions);
  for (const [name_, args] of Object.entries({ send_input: { text: 'x' }, kill_session: {}, read_file: { path: 'a' },
    write_file: { path: 'a', content: 'b' }, list_files: {} })) {
    const refused = await tool(name_, { sessionId, ...args });
    ok(`inspector, ${era}: ${name_}`, refused.isError === true && text(refused).includes('session'), refused);
  }
  const strict = await run(process.execPath, [program, '--cli', options.command, ...options.args, '--protocol-era', era,
    '--method', 'tools/list', '--strict'], { env: options.env, cwd: folder });
  ok(`inspector, ${era}: it finds no fault with the schemas of the tools`, !/warning|error/i.test(strict.stderr), strict.stderr);
  const prompt = await inspect(options, '--method', 'prompts/get', '--prompt-name', 'running-code');
  ok(`inspector, ${era}: the prompt is read`, prompt.messages?.[0].content.text.includes('Running code'), prompt);
  const resources = await inspect(options, '--method', 'resources/list');
  ok(`inspector, ${era}: resources are listed`, resources.resources?.length === 0, resources);
  const prompts = await inspect(options, '--method', 'prompts/list');
  ok(`inspector, ${era}: prompts are listed`, prompts.prompts?.[0]?.name === 'running-code', prompts);
  const disabled = await inspect(server('agent.enabled=false'), '--method', 'tools/list');
  ok(`inspector, ${era}: disabled, there are no tools`, disabled.tools?.length === 0, disabled);
};

const libraries = [await legacyLibrary(), await modernLibrary('legacy', 'sdk 2, legacy era'),
  await modernLibrary({ pin: '2026-07-28' }, 'sdk 2, modern era')];
const guarded = async (name, test) => {
  try {
    await test();
  } catch (error) {
    ok(`${name} does not throw`, false, error.stack ?? String(error));
  }
};
for (const library of libraries) {
  await guarded(library.name, () => testTools(library));
  await guarded(library.name, () => testDecisions(library));
  await guarded(library.name, () => testDisabled(library));
}
await guarded('ai-sdk', testAiSdk);
for (const era of ['legacy', 'modern']) await guarded(`inspector, ${era}`, () => testInspector(era));
// A server whose client is closed may still write its last records.
rmSync(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
console.log(`1..${count}`);
process.exit(failures ? 1 : 0);
