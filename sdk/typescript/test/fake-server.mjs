/*
 * Speaks the protocol without any sandbox: the source of a run is a list of what to do with it, in JSON. Each item is
 * a line to send, with the run's number filled in, or one of the words below.
 */
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
const result = (fields) => ({
  type: 'result',
  result: { status: 'success', result: null, reports: [], logs: [], ...fields },
});
const received = [];

const words = {
  die: () => process.exit(7),
  complain: () => process.stderr.write('out of luck\n', () => process.exit(7)),
  /** Nothing: it hangs until it is terminated. */
  hang: () => {},
  done: (run) => send({ ...result(), run }),
  /** A result that holds every line that has come in so far. */
  lines: (run) => send({ ...result({ result: JSON.stringify(received) }), run }),
};

send({ type: 'hello', protocol: Number(process.argv[2] ?? 1), version: 'fake' });

/** What each run still has to do; it goes on with every line that comes for it. */
const scripts = new Map();

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  const { type, run } = message;
  received.push(message);
  if (type === 'run' || type === 'execute') scripts.set(run, JSON.parse(message.source));
  if (type === 'terminate') {
    const error = { name: 'Error', message: message.reason ?? 'terminated', code: 'terminated' };
    return send({ ...result({ status: 'terminated', error }), run });
  }
  for (const step of scripts.get(run)?.shift() ?? []) {
    if (typeof step === 'string' && Object.hasOwn(words, step)) words[step](run);
    else send(typeof step === 'string' ? step : { run, ...step });
  }
});
