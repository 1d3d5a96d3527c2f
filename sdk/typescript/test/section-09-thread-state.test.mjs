/* Code reaches the state of a thread only through bridged functions. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { runCode } from 'glovebox';
import { valueOf } from './helpers.mjs';

class ThreadState {
  files = { '/notes.txt': 'remember' };
  events = [];
  terminated = false;

  runCode(source, options) {
    return runCode(source, options);
  }
  async readFile(path) {
    return this.files[path];
  }
  async getMessages({ limit }) {
    return [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'hello' },
    ].slice(0, limit);
  }
  emit(event, data) {
    this.events.push([event, data]);
  }
  terminate() {
    this.terminated = true;
  }
}

function bridges(state) {
  return {
    imports: {
      thread: {
        readFile: (path) => state.readFile(path),
        getMessages: (options) => state.getMessages(options),
        emit: (event, data) => state.emit(event, data),
      },
    },
  };
}

test('9 the bridges of the example', async () => {
  const state = new ThreadState();
  const source = `
    import { readFile, getMessages, emit } from 'thread';
    const note = await readFile('/notes.txt');
    const [first] = await getMessages({ limit: 1 });
    emit('scanned', { note, first });
    export default { note, first };
  `;
  const { status, result } = await state.runCode(source, bridges(state));
  assert.equal(status, 'success');
  assert.deepEqual(result, { note: 'remember', first: { role: 'user', content: 'hi' } });
  assert.deepEqual(state.events, [['scanned', result]]);
});

test('9 the state itself is not reachable', async () => {
  const state = new ThreadState();
  const source = `
    import * as thread from 'thread';
    export default [typeof state, 'state' in globalThis, Object.keys(thread).sort(), thread.readFile.call === undefined];
  `;
  const { result } = await state.runCode(source, bridges(state));
  assert.deepEqual(result, ['undefined', false, ['emit', 'getMessages', 'readFile'], false]);
});

test('9 the state object itself cannot be passed', () => {
  assert.throws(() => runCode('', { globals: { state: new ThreadState() } }), {
    name: 'SerializationError',
    path: 'globals.state',
    message: /an instance of ThreadState/,
  });
});

test('9 a bridged function can await, and call others', async () => {
  const state = new ThreadState();
  const tools = { count: async (path) => (await state.readFile(path)).length };
  const callTool = async (name, argument) => {
    const value = await tools[name](argument);
    state.emit('tool', name);
    return value;
  };
  assert.equal(await valueOf("export default await callTool('count', '/notes.txt')", { globals: { callTool } }), 8);
  assert.deepEqual(state.events, [['tool', 'count']]);
});

test('9 a bridged function can start another run', async () => {
  const nested = async (source) => (await runCode(source)).result;
  assert.equal(await valueOf("export default await nested('export default 6 * 7')", { globals: { nested } }), 42);
});
