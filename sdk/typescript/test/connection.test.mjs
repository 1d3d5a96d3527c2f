/* The connection: order of messages, death of either process, and the consequences. */
import { strict as assert } from 'node:assert';
import { AsyncLocalStorage } from 'node:async_hooks';
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Glovebox, GloveboxError, runCode } from 'glovebox';
import { LineSplitter } from '../dist/lines.js';
import { fakeServer, FOREVER, until } from './helpers.mjs';

const fake = (...args) => new Glovebox({ command: [process.execPath, fakeServer, ...args] });
const script = (...steps) => JSON.stringify(steps);
const call = (number, id, ...args) => ({ type: 'call', call: number, function: id, args });

/** Runs `steps` and returns the answers that the fake server got. */
async function answers(options, ...steps) {
  const client = fake();
  const { result } = await client.runCode(script(...steps, ['lines']), options);
  await client.close();
  return JSON.parse(result).filter(({ type }) => type !== 'run');
}

/** Ids are assigned in the order in which functions are encoded. */
const FIRST = 1;

async function rejects(run, code, message) {
  await assert.rejects(
    async () => run,
    (error) => {
      assert.ok(error instanceof GloveboxError, String(error));
      assert.equal(error.name, 'GloveboxError');
      assert.equal(error.code, code);
      if (message) assert.match(error.message, message);
      return true;
    },
  );
  assert.equal(run.running, false);
}

/** Runs `body` in a separate node process, which must exit by itself. */
async function program(body) {
  const code = `import { Glovebox, runCode } from ${JSON.stringify(import.meta.resolve('glovebox'))};\n${body}`;
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], { env: process.env });
}

test('a call is answered with the return value of the function', async () => {
  const twice = (n) => n * 2;
  assert.deepEqual(await answers({ globals: { twice } }, [call(5, FIRST, 21)]), [
    { type: 'answer', run: 1, call: 5, return: 42 },
  ]);
});

test('a call has no this', async () => {
  let seen = 'nothing';
  function look() {
    seen = this;
  }
  await answers({ globals: { look } }, [call(1, FIRST)]);
  assert.equal(seen, undefined);
});

test('a promise is announced at once and settled later', async () => {
  const later = async (n) => n + 1;
  assert.deepEqual(await answers({ globals: { later } }, [call(1, FIRST, 1)], []), [
    { type: 'answer', run: 1, call: 1, promise: true },
    { type: 'answer', run: 1, call: 1, return: 2 },
  ]);
});

test('any thenable of the host is treated as a promise', async () => {
  const later = () => ({ then: (resolve) => resolve('then') });
  const [, settled] = await answers({ globals: { later } }, [call(1, FIRST)], []);
  assert.equal(settled.return, 'then');
});

test('thrown errors are sent with name and message, without stack', async () => {
  const fail = () => {
    throw new RangeError('too far');
  };
  assert.deepEqual(await answers({ globals: { fail } }, [call(1, FIRST)]), [
    { type: 'answer', run: 1, call: 1, throw: { $type: 'Error', name: 'RangeError', message: 'too far' } },
  ]);
});

test('rejections are sent with name and message, without stack', async () => {
  const fail = async () => {
    throw new RangeError('too far');
  };
  const [, settled] = await answers({ globals: { fail } }, [call(1, FIRST)], []);
  assert.deepEqual(settled.throw, { $type: 'Error', name: 'RangeError', message: 'too far' });
});

test('other thrown values are sent unchanged', async () => {
  const fail = () => {
    throw { code: 7 };
  };
  const [{ throw: thrown }] = await answers({ globals: { fail } }, [call(1, FIRST)]);
  assert.deepEqual(thrown, { code: 7 });
});

const strange = {
  'a symbol is thrown': () => {
    throw Symbol('x');
  },
  'an instance is returned': () => ({ x: new (class Socket {})() }),
  'an instance is returned later': async () => ({ x: new (class Socket {})() }),
  'an error throws when it is read': () => {
    throw Object.defineProperty(new Error(), 'message', {
      get() {
        throw new Error('hidden');
      },
    });
  },
  'a getter named then throws': () => ({
    get then() {
      throw new TypeError('no then');
    },
  }),
};
for (const [name, fn] of Object.entries(strange)) {
  test(`${name}: the call throws in the code`, async () => {
    const last = (await answers({ globals: { fn } }, [call(1, FIRST)], ...(name.endsWith('later') ? [[]] : []))).at(-1);
    assert.equal(last.throw.$type, 'Error');
    if (name.includes('instance')) {
      assert.equal(last.throw.name, 'SerializationError');
      assert.match(last.throw.message, /^return value\.x: an instance of Socket/);
    }
  });
}

test('a function that is a revoked proxy throws when it is called', async () => {
  const { proxy, revoke } = Proxy.revocable(() => 1, {});
  revoke();
  const [answer] = await answers({ globals: { proxy } }, [call(1, FIRST)]);
  assert.equal(answer.throw.name, 'TypeError');
});

test('a call of an unknown function throws, and the run continues', async () => {
  const [answer] = await answers({}, [call(1, 99)]);
  assert.match(answer.throw.message, /no such function/);
});

test('a promise of the host is answered when it settles', async () => {
  const [answer] = await answers({ globals: { promise: Promise.resolve([1]) } }, [call(1, FIRST)]);
  assert.deepEqual(answer, { type: 'answer', run: 1, call: 1, return: [1] });
  const [rejected] = await answers({ globals: { promise: Promise.reject(new Error('no')) } }, [call(1, FIRST)]);
  assert.equal(rejected.throw.message, 'no');
});

const theirs = (id, type = 'function') => ({ $type: type, id, owner: 'sandbox' });

test('functions of the code can be called, are identical for an id, and are sent back by that id', async () => {
  const seen = [];
  const take = async (fn, again) => {
    assert.equal(fn, again);
    seen.push(await fn(1, 'a'));
    return [fn, take];
  };
  const lines = await answers(
    { globals: { take } },
    [call(1, FIRST, theirs(3), theirs(3))],
    [],
    [{ type: 'answer', call: 1, return: 'called' }],
  );
  assert.deepEqual(seen, ['called']);
  const byType = (type) => lines.filter((line) => line.type === type);
  assert.deepEqual(byType('call'), [{ type: 'call', run: 1, call: 1, function: 3, args: [1, 'a'] }]);
  assert.deepEqual(byType('answer').at(-1).return, [theirs(3), { $type: 'function', id: FIRST, name: 'take' }]);
});

test('an exception in a function of the code is a rejection', async () => {
  const messages = [];
  const take = (fn) => fn().catch((error) => messages.push(error.name, error.message, error.stack));
  const thrown = { $type: 'Error', name: 'TypeError', message: 'mine', stack: 'at <runCode>' };
  await answers({ globals: { take } }, [call(1, FIRST, theirs(3))], [], [{ type: 'answer', call: 1, throw: thrown }]);
  assert.deepEqual(messages, ['TypeError', 'mine', 'TypeError: mine\nat <runCode>']);
});

test('an unhandled rejection of the code does not end this process', async () => {
  const take = (fn, promise) => {
    void fn();
    void promise;
  };
  const error = { $type: 'Error', name: 'Error', message: 'unseen' };
  await answers(
    { globals: { take } },
    [call(1, FIRST, theirs(3), theirs(4, 'promise'))],
    [
      { type: 'answer', call: 1, throw: error },
      { type: 'answer', call: 2, throw: error },
    ],
    [],
  );
});

test('promises of the code are promises in the host', async () => {
  let value;
  const take = (promise) => promise.then((settled) => (value = settled));
  await answers(
    { globals: { take } },
    [call(1, FIRST, theirs(4, 'promise'))],
    [],
    [{ type: 'answer', call: 1, return: 7 }],
  );
  assert.equal(value, 7);
});

test('functions of a run that has ended reject', async () => {
  const client = fake();
  let kept;
  let pending;
  const keep = (fn) => {
    kept = fn;
    pending = fn();
  };
  await client.runCode(script([call(1, FIRST, theirs(3))], ['done'], []), { globals: { keep } });
  for (const promise of [kept(), pending]) await assert.rejects(promise, { name: 'GloveboxError', code: 'run_ended' });
  await client.close();
});

test('an answer with ended rejects the call', async () => {
  let pending;
  const keep = (fn) => {
    pending = fn();
  };
  await answers({ globals: { keep } }, [call(1, FIRST, theirs(3))], [{ type: 'answer', call: 1, ended: true }]);
  await assert.rejects(pending, { code: 'run_ended' });
});

test('a function then of an argument is not called', async () => {
  const trap = { then: theirs(3), n: 1 };
  const same = (value) => value;
  const lines = await answers({ globals: { same } }, [call(1, FIRST, trap)]);
  assert.deepEqual(lines, [{ type: 'answer', run: 1, call: 1, return: trap }]);
});

test('a host promise cannot resolve to a thenable of the code', async () => {
  let outcome;
  const take = async (fn) => {
    outcome = await fn().catch((error) => error);
  };
  const lines = await answers(
    { globals: { take } },
    [call(1, FIRST, theirs(3))],
    [],
    [{ type: 'answer', call: 1, return: { then: theirs(4) } }],
  );
  assert.equal(outcome.name, 'SerializationError');
  assert.equal(lines.filter(({ type }) => type === 'call').length, 1);
});

test('a function of one run can be passed to another', async () => {
  const client = fake();
  let from;
  const outer = client.runCode(
    script([call(1, FIRST, theirs(3))], ['hang'], [{ type: 'answer', call: 1, return: 'outer' }]),
    {
      globals: { keep: (fn) => void (from = fn) },
    },
  );
  await until(() => from);
  const inner = client.runCode(script([call(1, FIRST)], [], ['lines']), { globals: { from } });
  const lines = JSON.parse((await inner).result).filter(({ run }) => run === 2);
  assert.equal(lines.at(-1).return, 'outer');
  outer.terminate();
  await outer;
  await client.close();
});

test('reports are live, in order, and answered', async () => {
  const client = fake();
  const seen = [];
  const report = (number, value) => ({ type: 'report', call: number, value });
  const run = client.runCode(script([report(1, { n: 1 })], [report(2, 'two')], ['lines']), {
    report: (value) => {
      seen.push(value);
      assert.deepEqual(run.reports, seen);
      return `got ${seen.length}`;
    },
  });
  const { reports } = run;
  const result = await run;
  assert.deepEqual(seen, [{ n: 1 }, 'two']);
  assert.deepEqual(result.reports, seen);
  assert.equal(result.reports[0], seen[0]);
  assert.equal(run.reports, reports);
  assert.deepEqual(
    JSON.parse(result.result)
      .slice(1)
      .map((line) => line.return),
    ['got 1', 'got 2'],
  );
  await client.close();
});

test('a value is kept if its report callback throws, and report throws in the code', async () => {
  const client = fake();
  const run = client.runCode(script([{ type: 'report', call: 1, value: 1 }], ['lines']), {
    report: () => {
      throw new Error('full');
    },
  });
  const { result, reports } = await run;
  assert.equal(JSON.parse(result)[1].throw.message, 'full');
  assert.deepEqual(reports, [1]);
  await client.close();
});

test('the reports on a handle cannot be changed', async () => {
  const client = fake();
  const run = client.runCode(script([{ type: 'report', call: 1, value: 1 }], ['done']), { report: () => {} });
  await run;
  assert.throws(() => run.reports.push(2), TypeError);
  assert.throws(() => (run.reports[0] = 2), TypeError);
  assert.throws(() => delete run.reports[0], TypeError);
  assert.throws(() => (run.reports.length = 0), TypeError);
  assert.deepEqual(run.reports, [1]);
  assert.ok(Array.isArray(run.reports));
  await client.close();
});

test('host functions and report callbacks run in the async context of their own runCode', async () => {
  const client = fake();
  const context = new AsyncLocalStorage();
  const seen = {};
  const steps = script([call(1, FIRST)], [{ type: 'report', call: 2, value: 1 }], ['done']);
  const note = (name) => () => void (seen[name] = context.getStore());
  const start = (who) =>
    context.run(who, () =>
      client.runCode(steps, { globals: { f: note(`${who}'s call`) }, report: note(`${who}'s report`) }),
    );
  await Promise.all([start('alice'), start('bob')]);
  assert.deepEqual(seen, {
    "alice's call": 'alice',
    "alice's report": 'alice',
    "bob's call": 'bob',
    "bob's report": 'bob',
  });
  await client.close();
});

test('terminate before the process has started', async () => {
  const client = fake();
  const run = client.runCode(script(['hang']));
  run.terminate('at once');
  run.terminate('again');
  const result = await run;
  assert.equal(result.status, 'terminated');
  assert.equal(result.error.message, 'at once');
  await client.close();
});

test('terminate is sent once, and not after the end', async () => {
  const client = fake();
  const { terminate, then } = client.runCode(script(['done']));
  await { then };
  terminate('too late');
  const { result } = await client.runCode(script(['lines']));
  assert.equal(JSON.parse(result).filter(({ type }) => type === 'terminate').length, 0);
  await client.close();
});

test('messages for an ended run are ignored', async () => {
  const client = fake();
  const done = { type: 'result', result: { status: 'success', result: 1 } };
  const again = { type: 'result', result: { status: 'error' } };
  const run = client.runCode(script([done, again, call(9, FIRST), { type: 'answer', call: 3, return: 1 }]));
  assert.equal((await run).status, 'success');
  assert.equal((await client.runCode(script(['done']))).status, 'success');
  await client.close();
});

test('the death of the server rejects every run, and the next one starts another', async () => {
  const client = fake();
  const runs = [
    client.runCode(script(['hang'])),
    client.runCode(script(['hang'])),
    client.runCode(script(['complain'])),
  ];
  for (const run of runs) await rejects(run, 'connection_lost', /ended with status 7: out of luck/);
  assert.equal((await client.runCode(script(['done']))).status, 'success');
  await client.close();
});

for (const line of [
  'not JSON',
  '[]',
  'null',
  '{"type":"surprise","run":1}',
  '{"type":"result","run":1}',
  '{"type":"result","run":1,"result":{"status":"success","result":{"$type":"Unheard"}}}',
]) {
  test(`the connection is closed if the server sends ${line}`, async () => {
    const client = fake();
    const other = client.runCode(script(['hang']));
    await rejects(client.runCode(script([line.replace('"run":1', '"run":2')])), 'protocol');
    await rejects(other, 'protocol');
    assert.equal((await client.runCode(script(['done']))).status, 'success');
    await client.close();
  });
}

test('another protocol version is refused and named', async () => {
  await rejects(fake('2').runCode(script(['hang'])), 'protocol', /speaks protocol 1, Glovebox fake speaks 2/);
});

test('a refused run rejects its handle only', async () => {
  const client = fake();
  const other = client.runCode(script(['hang']));
  const error = {
    type: 'error',
    about: 'run',
    code: 'invalid',
    field: 'options.imports',
    message: 'options.imports: no',
  };
  const run = client.runCode(script([error]));
  await rejects(run, 'invalid', /options\.imports: no/);
  await run.then(
    () => assert.fail(),
    (reason) => assert.equal(reason.field, 'options.imports'),
  );
  assert.equal(other.running, true);
  await client.close();
});

test('a refused answer is replaced by a throw, once', async () => {
  const refusal = { type: 'error', about: 'answer', call: 1, code: 'invalid', message: 'return: too deep' };
  const lines = await answers(
    { globals: { f: () => 1 } },
    [call(1, FIRST)],
    [refusal],
    [refusal, { ...refusal, call: 2 }],
  );
  assert.deepEqual(
    lines.map((line) => line.call),
    [1, 1, 2],
  );
  assert.equal(lines[1].throw.message, 'return: too deep');
});

test('a refused call rejects', async () => {
  let outcome;
  const take = async (fn) => {
    outcome = await fn().catch((error) => error);
  };
  const refusal = { type: 'error', about: 'call', call: 1, code: 'unknown_call', message: 'no such function' };
  await answers({ globals: { take } }, [call(1, FIRST, theirs(3))], [], [refusal]);
  assert.equal(outcome.code, 'unknown_call');
});

test('an error without a run or request ends the connection', async () => {
  const client = fake();
  await rejects(client.runCode(script(['{"type":"error","code":"malformed","message":"line 1"}'])), 'malformed');
  await client.close();
});

test('a message that is too long is not sent', async () => {
  const client = fake();
  const huge = 'x'.repeat(129 * 1024 * 1024);
  await rejects(client.runCode(huge), 'too_long');
  const run = client.runCode(script([call(1, FIRST)], ['lines']), { globals: { f: () => huge } });
  assert.equal(JSON.parse((await run).result)[1].throw.name, 'GloveboxError');
  await client.close();
});

test('close ends runs and the process; later runs are rejected', async () => {
  const client = fake();
  const run = client.runCode(script(['hang']));
  const closing = client.close();
  await rejects(run, 'closed');
  await closing;
  await rejects(client.runCode(script(['done'])), 'closed');
  await client.close();
  await fake().close();
});

test('a missing program is reported with the searched places', async () => {
  await rejects(new Glovebox({ path: '/no/such/glovebox' }).runCode(''), 'not_found', /\/no\/such\/glovebox/);
  const { GLOVEBOX_PATH, PATH } = process.env;
  try {
    process.env.GLOVEBOX_PATH = '/no/glovebox';
    await rejects(new Glovebox().runCode(''), 'not_found', /\/no\/glovebox.*GLOVEBOX_PATH/);
    delete process.env.GLOVEBOX_PATH;
    process.env.PATH = '/no/bin:/no/sbin';
    await rejects(new Glovebox().runCode(''), 'not_found', /bin\/glovebox.*\/no\/bin:\/no\/sbin.*Install/);
    // What a repository holds is not started, although the PATH names the working folder.
    const folder = mkdtempSync(join(tmpdir(), 'glovebox-'));
    const before = process.cwd();
    writeFileSync(join(folder, 'glovebox'), '#!/bin/sh\n', { mode: 0o755 });
    process.chdir(folder);
    try {
      process.env.PATH = '.::/no/bin:';
      await rejects(new Glovebox().runCode(''), 'not_found', /in the PATH \(\/no\/bin\)/);
    } finally {
      process.chdir(before);
      rmSync(folder, { recursive: true });
    }
  } finally {
    Object.assign(process.env, { GLOVEBOX_PATH, PATH });
  }
});

test('a program that cannot be started is named in the error', async () => {
  await rejects(new Glovebox({ command: ['/no/such/thing'] }).runCode(''), 'spawn_failed', /no\/such\/thing/);
});

test('too many open files are an error, and do not end this process', async () => {
  const { stdout } = await program(`
    import { openSync, closeSync } from 'node:fs';
    await import('node:child_process');
    const files = [];
    try { for (;;) files.push(openSync('/dev/null')); } catch {}
    const client = new Glovebox({ command: ['/bin/true'] });
    const code = await client.runCode('').then(() => 'none', (error) => error.code);
    files.forEach((file) => closeSync(file));
    console.log(code);
  `);
  assert.equal(stdout, 'spawn_failed\n');
});

test('a run that is not awaited may fail', async () => {
  void new Glovebox({ path: '/no/such/glovebox' }).runCode('');
  await until(() => true);
});

test('a socket instead of a process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-sdk-'));
  const path = join(folder, 'socket');
  const server = createServer((socket) => {
    const child = spawn(process.execPath, [fakeServer], { stdio: ['pipe', 'pipe', 'inherit'] });
    socket.pipe(child.stdin);
    child.stdout.pipe(socket);
  }).listen(path);
  const client = new Glovebox({ socket: path });
  assert.equal((await client.runCode(script(['done']))).status, 'success');
  await rejects(client.runCode(script(['die'])), 'connection_lost', /socket is lost/);
  assert.equal((await client.runCode(script(['done']))).status, 'success');
  await client.close();
  await rejects(new Glovebox({ socket: join(folder, 'none') }).runCode(''), 'connection_lost', /ENOENT/);
  server.close();
  rmSync(folder, { recursive: true });
});

test('lines are joined from chunks of any size, in linear time', () => {
  const lines = [];
  const splitter = new LineSplitter(100, (line) => lines.push(line));
  const text = Buffer.from('one\n\n{"ü":"😀"}\ntail');
  for (const byte of text) splitter.push(Buffer.from([byte]));
  splitter.push(Buffer.from('\na\nb\n'));
  assert.deepEqual(lines, ['one', '', '{"ü":"😀"}', 'tail', 'a', 'b']);
  assert.throws(() => splitter.push(Buffer.alloc(101, 'x')), RangeError);
});

/** The processes that `pid` has started. */
function children(pid = process.pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

function isAlive(pid) {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

test('an idle client does not keep the program alive, and its process ends too', async () => {
  const { stdout } = await program(`
    import { readFileSync } from 'node:fs';
    const { result } = await runCode('export default 6 * 7');
    console.log(result, readFileSync(\`/proc/self/task/\${process.pid}/children\`, 'utf8'));
  `);
  const [result, child] = stdout.split(' ').map(Number);
  assert.equal(result, 42);
  assert.ok(child > 0);
  await until(() => !isAlive(child));
});

test('glovebox ends when the program is killed', async () => {
  const code = `import { runCode } from ${JSON.stringify(import.meta.resolve('glovebox'))}; await runCode('for (;;) {}')`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore' });
  await until(() => children(parent.pid).length > 0);
  const [child] = children(parent.pid);
  parent.kill('SIGKILL');
  await until(() => !isAlive(child));
});

test('an active run keeps its program alive', async () => {
  const { stdout } = await program(`
    runCode('export default await slow()', { globals: { slow: () => new Promise((r) => setTimeout(r, 200, 'slow')) } })
      .then(({ result }) => console.log(result));
  `);
  assert.equal(stdout, 'slow\n');
});

test('all runs reject when glovebox is killed, and the next call works', async () => {
  assert.equal((await runCode('export default 1')).result, 1);
  const before = children();
  const client = new Glovebox();
  const runs = [
    client.runCode(FOREVER),
    client.runCode(FOREVER),
    client.runCode('await wait()', { globals: { wait: () => new Promise(() => {}) } }),
  ];
  await until(() => children().length > before.length);
  const [pid] = children().filter((child) => !before.includes(child));
  process.kill(pid, 'SIGKILL');
  for (const run of runs) await rejects(run, 'connection_lost', /SIGKILL/);
  assert.equal((await client.runCode('export default 2')).result, 2);
  assert.equal((await runCode('export default 3')).result, 3);
  await client.close();
});

/** Whether a server accepts connections at `path`; the socket file exists earlier. */
function listens(path) {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

test('glovebox with a socket serves several clients', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'glovebox-sdk-'));
  const path = join(folder, 'socket');
  const server = spawn(process.env.GLOVEBOX_PATH, ['stdio', '--socket', path], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  await until(() => listens(path));
  const clients = [new Glovebox({ socket: path }), new Glovebox({ socket: path })];
  const globals = { twice: async (n) => n * 2 };
  const runs = clients.map((client, i) => client.runCode(`export default await twice(${i + 1})`, { globals }));
  assert.deepEqual(
    (await Promise.all(runs)).map(({ result }) => result),
    [2, 4],
  );
  const endless = clients[0].runCode(FOREVER);
  await clients[1].close();
  server.kill('SIGKILL');
  await rejects(endless, 'connection_lost');
  rmSync(folder, { recursive: true });
});
