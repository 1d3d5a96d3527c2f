// Streamable HTTP for tests, over the standard streams of a server: each POST becomes a line. Legacy sessions have a server
// each; modern requests, which have no session, share one. It listens on loopback.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const STATUS = { '-32601': 404, '-32602': 400, '-32600': 400, '-32700': 400, '-32022': 400 };

class Child {
  constructor(command, args) {
    this.process = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.waiting = new Map(); // by our id: { id, send, end }
    this.last = 0;
    let rest = '';
    this.process.stdout.setEncoding('utf8').on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      for (const line of lines) this.take(JSON.parse(line));
    });
  }

  take(message) {
    const { id, method, params } = message;
    if (method) {
      const token = params?._meta?.progressToken ?? params?.progressToken;
      const call = [...this.waiting.values()].find((one) => one.token === token) ?? [...this.waiting.values()].at(-1);
      call?.send(message);
      return;
    }
    const call = this.waiting.get(id);
    this.waiting.delete(id);
    call?.end({ ...message, id: call.id });
  }

  // A request; ids of several connections would collide.
  request(message, send, end) {
    const id = ++this.last;
    this.waiting.set(id, { id: message.id, token: message.params?._meta?.progressToken, send, end });
    this.write({ ...message, id });
  }

  write(message) {
    this.process.stdin.write(`${JSON.stringify(message)}\n`);
  }
}

export const startBridge = async (command, args) => {
  const modern = new Child(command, args);
  const sessions = new Map();
  const answer = (response, status, headers, body) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body === undefined ? '' : JSON.stringify(body));
  };
  const handle = (request, response, text) => {
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      return answer(response, 400, {}, { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'not JSON' } });
    }
    let session = request.headers['mcp-session-id'];
    if (message.method === 'initialize' && !message.params?._meta?.['io.modelcontextprotocol/protocolVersion']) {
      session = randomUUID();
      sessions.set(session, new Child(command, args));
    }
    const child = sessions.get(session) ?? modern;
    if (message.id === undefined || !message.method) {
      child.write(message);
      return answer(response, 202, {});
    }
    const headers = sessions.has(session) ? { 'mcp-session-id': session } : {};
    let streams = false;
    const stream = (one) => response.write(`event: message\ndata: ${JSON.stringify(one)}\n\n`);
    return child.request(message, (one) => {
      if (!streams) response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
      streams = true;
      stream(one);
    }, (one) => {
      if (streams) {
        stream(one);
        response.end();
      } else {
        answer(response, child === modern ? STATUS[one.error?.code] ?? 200 : 200, headers, one);
      }
    });
  };
  const server = createServer((request, response) => {
    if (request.method === 'DELETE') return answer(response, 200, {});
    if (request.method !== 'POST') return answer(response, 405, {});
    let text = '';
    request.setEncoding('utf8').on('data', (part) => { text += part; }).on('end', () => handle(request, response, text));
    return undefined;
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    // When this resolves, the servers have ended.
    close: async () => {
      server.close();
      server.closeAllConnections();
      await Promise.all([modern, ...sessions.values()].map(({ process }) => new Promise((done) => {
        if (process.exitCode !== null || process.signalCode !== null) done();
        process.once('exit', done);
        process.stdin.end();
      })));
    },
  };
};
