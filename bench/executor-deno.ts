// The runtime of an executor that is a plain Deno subprocess: tools are called by JSON lines on standard input and output.
// The code of the benchmark, the body of an async function, is appended to this file.
const encoder = new TextEncoder();
const pending = new Map<string, {resolve: (value: unknown) => void; reject: (error: Error) => void}>();
let lastCall = 0;

function send(message: unknown) {
	const bytes = encoder.encode(JSON.stringify(message) + '\n');
	for (let at = 0; at < bytes.length;)
		at += Deno.stdout.writeSync(bytes.subarray(at));
}

function __callTool__(name: string, params: unknown): Promise<any> {
	const call_id = String(++lastCall);
	send({type: '__tool_call__', name, params, call_id});
	return new Promise((resolve, reject) => pending.set(call_id, {resolve, reject}));
}

function receive(line: string) {
	const message = JSON.parse(line);
	const call = pending.get(message.call_id);
	pending.delete(message.call_id);
	if (message.type === '__tool_result__')
		call?.resolve(message.result);
	else
		call?.reject(new Error(message.error));
}

async function readLines() {
	let rest = '';
	for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
		const lines = (rest + text).split('\n');
		rest = lines.pop()!;
		lines.forEach(receive);
	}
}

async function call(params: {i: number}): Promise<any> {
	return await __callTool__('call', params);
}

function finish(value: unknown) {
	send({type: '__output__', data: String(value)});
	Deno.exit(0);
}

readLines();
main().then(finish, finish);
