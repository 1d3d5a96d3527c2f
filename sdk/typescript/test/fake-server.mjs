/*
 * Speaks the protocol without any sandbox: the source of a run is a JSON array, the script of the run. Each item is
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
  /** Does nothing: the run hangs until it is terminated. */
  hang: () => {},
  done: (run) => send({ ...result(), run }),
  /** A result that contains all lines received so far. */
  lines: (run) => send({ ...result({ result: JSON.stringify(received) }), run }),
};

send({ type: 'hello', protocol: Number(process.argv[2] ?? 1), version: 'fake' });

/** The remaining script of each run; each line for the run continues it. */
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
