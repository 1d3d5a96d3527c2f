// Runs one job, after warm-up jobs.

// Where sources are: in the box, unless that is a directory of the caller's, which gets no files of Glovebox.
const BOX = Deno.args.includes('workdir') ? '/tmp/.glovebox-sources' : '/box';
const IMPORTS = Symbol.for('glovebox.imports');
// How Deno reports link failures, which happen before any module is evaluated.
const NOT_LINKED = /^(SyntaxError: |The module's source code could not be parsed|Module not found|Relative import path|Requires import access|Unsupported scheme|Import '|Importing |The requested module|Expected a JavaScript or TypeScript module|Cannot resolve|Unable to load|npm package|A remote specifier|.*--no-remote|.*--no-npm)/;
const PLACE_IN_MESSAGE = /\s+at (file:\S+?):(\d+):(\d+)/;
const ENDING = /\.(m?[jt]sx?|cts|cjs|json)$/;

const port = new Port();
const bridge = new Bridge(port);
let run = null;
let primed = 0;
let made = []; // files created in the box for the run

// --- sources as files

// The path of the file for source @name.
function pathOf(name) {
	const plain = /^(\.\/)?[\w][\w./-]*$/.test(name) && !name.includes('..') ? name.replace(/^\.\//, '') : 'main.ts';
	return `${BOX}/${ENDING.test(plain) ? plain : `${plain}.ts`}`;
}

function exists(path) {
	try {
		Deno.lstatSync(path);
		return true;
	} catch {
		return false;
	}
}

// @around: {head, tail}, text around the source.
function writeSource(name, text, shownName = name, {head = '', tail = ''} = {}) {
	if (!exists(BOX))
		Deno.mkdirSync(BOX);
	let path = pathOf(name);
	for (let n = 1; exists(path); n++)
		path = pathOf(name).replace(/([^/]*)$/, `.${n}-$1`);
	for (let at = BOX.length; (at = path.indexOf('/', at + 1)) > 0;) {
		const folder = path.slice(0, at);
		if (!exists(folder)) {
			Deno.mkdirSync(folder);
			made.push(folder);
		}
	}
	Deno.writeTextFileSync(path, head + text + tail);
	made.push(path);
	const address = `file://${path}`;
	positions.set(address, {name: shownName, columnOf: (line, column) => column, nameOf: name => name,
		within: head || tail ? placeWithin(head, text) : undefined});
	return address;
}

function removeSources() {
	for (const path of made.reverse()) {
		try {
			Deno.removeSync(path);
		} catch {
			// The code has removed it, or put files into the folder.
		}
	}
	made = [];
}

// The host's imports, as files that the import map refers to: see worker.c.
function writeImports(imports) {
	globalThis[IMPORTS] = Object.values(imports);
	Object.values(imports).forEach((exports, i) => {
		const keys = typeof exports === 'object' && exports !== null ? Object.keys(exports) : [];
		const lines = [`const m = globalThis[Symbol.for('glovebox.imports')][${i}];`];
		keys.forEach((key, k) => lines.push(`const x${k} = m[${JSON.stringify(key)}]; export {x${k} as ${JSON.stringify(key)}};`));
		if (!keys.includes('default'))
			lines.push('export default m;');
		Deno.writeTextFileSync(`${DIR}/import-${i}.mjs`, lines.join('\n'));
	});
}

// --- the run

function linkFailure(error) {
	if (!isError(error) || !NOT_LINKED.test(error.message))
		return error;
	const at = PLACE_IN_MESSAGE.exec(error.message);
	const source = at && positions.get(at[1]);
	const syntax = /^SyntaxError: (.*)/.exec(error.message);
	const place = at && (source ? positionIn(source, Number(at[2]), Number(at[3])) : {line: Number(at[2]), column: Number(at[3])});
	return withFailure(error, {...error[FAILURE], status: STATUS.LINK_ERROR, ...(syntax && {name: 'SyntaxError', message: syntax[1]}),
		place: place ? {filename: source?.name ?? at[1], line: place.line, column: place.column} : undefined});
}

async function runOnce(job) {
	defineGlobals(job.globals);
	writeImports(job.imports);
	for (const [name, text] of job.modules)
		writeSource(name, text);
	// Files next to the program on the caller's machine are in the root of the box; modules of the job
	// are at their paths. Deno caches modules by URL: give each warm-up job its own.
	const name = job.modules.size ? job.filename : job.filename.replace(/^.*\//, '');
	const address = writeSource(name, job.source, job.filename, job.settings) + (run.priming ? `?${++primed}` : '');
	let module;
	try {
		module = await import(address);
	} catch (error) {
		throw linkFailure(error);
	}
	return selectExport(job, module);
}

async function execute() {
	const current = run;
	try {
		current.succeed(await runOnce(current.job), false);
	} catch (error) {
		current.fail(error);
	}
	// With lent functions, the pending read for host calls keeps the event loop alive: complete
	// explicitly.
	if (port.listening && !bridge.pending.size)
		setTimeout(complete, 0, current);
}

function begin(reader, priming) {
	run = new Run({result: 0, output: 0, settings: {}}, frame => port.send(frame));
	run.priming = port.muted = priming;
	try {
		run.job = readJob(reader);
	} catch (error) {
		run.fail(error);
		complete(run);
		return;
	}
	if (priming)
		run.job.output = run.job.result;
	execute();
}

// Called when the outcome is known and no work is left.
function complete(done) {
	if (run !== done)
		return;
	removeSources();
	if (Deno.exitCode)
		done.exit(Deno.exitCode & 255);
	run = null;
	port.send(done.outcome);
	if (!done.priming)
		port.finish();
	positions.clear();
	port.muted = false;
	bridge.receive(port.wait());
}

function onUncaught(error) {
	if (!run)
		return;
	run.overturn(error);
	complete(run);
}

// The event loop is empty.
function onIdle(event) {
	if (!run)
		return;
	event.preventDefault();
	if (!run.outcome && bridge.awaited) {
		port.listen();
		return;
	}
	if (!run.outcome)
		run.deadlock();
	complete(run);
}

// Deno has no other way to format stacks; a hook of the code replaces this one.
function formatStack(error, trace) {
	let head = 'Error';
	try {
		head = Error.prototype.toString.call(error);
	} catch {
		// The code has defined a message that cannot be read.
	}
	return [head, ...trace.map(site => `    at ${site}`)].join('\n');
}

Object.defineProperty(Error, 'prepareStackTrace', {value: (error, trace) => presentStack(error, trace, formatStack),
	writable: true, configurable: true, enumerable: false});
stacksAreMapped = true;
bridge.onJob = begin;
port.onFrame = frame => bridge.receive(frame);
captureConsole(console, Console, frame => run && port.send(frame), () => run?.job.output ?? 0);
globalThis.addEventListener('error', event => {
	event.preventDefault();
	onUncaught(event.error);
});
globalThis.addEventListener('unhandledrejection', event => {
	event.preventDefault();
	onUncaught(event.reason);
});
globalThis.addEventListener('beforeunload', onIdle);
for (const name of ['out', 'in', 'later', 'main.mjs'])
	Deno.removeSync(`${DIR}/${name}`);
bridge.receive(port.wait());
