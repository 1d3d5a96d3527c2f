// Runs jobs: one, or all jobs of a session.

const port = new Port();
const bridge = new Bridge(port);
let run = null; // the current run
let loader = null;
let session = false;
const OUTPUT_STEP = 32 << 10;

function sendWhileRunning(frame) {
	if (run)
		port.send(frame);
}

// --- one run

// The end of a statement without its semicolon.
function endOf(source, statement) {
	return source.text[statement.end - 1] === ';' ? statement.end - 1 : statement.end;
}

// Wraps the last statement: @before, then its text in parentheses.
function wrapLast(source, before) {
	source.insert(source.last.start, `${before}(`);
	source.insert(endOf(source, source.last), ')');
}

async function runModule(job, source) {
	const implicit = job.exportName === null && !source.hasDefaultExport && source.lastExpression !== null;
	if (implicit)
		wrapLast(source, 'export default ');
	let module;
	try {
		module = loader.makeModule(source, job.filename);
		await loader.link(module);
	} catch (error) {
		throw unlinked(error);
	}
	await module.evaluate();
	if (implicit)
		return {value: await module.namespace.default, implicit};
	return {value: await selectExport(job, module.namespace)};
}

async function runScript(job, source) {
	const implicit = job.exportName === null && source.lastExpression !== null && !source.hasReturn;
	if (implicit)
		wrapLast(source, 'return');
	const {module, returned} = loader.runCommon(source, job.filename);
	const {exports} = module;
	const replaced = exports !== module.original;
	if (job.exportName !== null)
		return {value: await selectExport(job, Object(exports))};
	if (replaced && !Object(exports).__esModule)
		return {value: await callExport('module.exports', exports, job.args)};
	if (Object.keys(Object(exports)).length)
		return {value: await selectExport(job, exports)};
	return {value: await returned, implicit: true};
}

async function runOnce(job) {
	loader = new Loader(job);
	defineGlobals(job.globals);
	const source = new Source(job.source, job.filename);
	const esm = job.filename.endsWith('.mjs') || (!job.filename.endsWith('.cjs') && source.isModule);
	return esm ? runModule(job, source) : runScript(job, source);
}

// --- a session

const STEP = Symbol.for('glovebox.step');
const stepScript = new vm.Script("globalThis[Symbol.for('glovebox.step')]()", {filename: 'glovebox:step'});

// Runs @step and its microtasks so that SIGINT can interrupt them.
function interruptible(step) {
	let value;
	globalThis[STEP] = () => {
		delete globalThis[STEP];
		value = step();
		process._tickCallback?.();
	};
	try {
		stepScript.runInThisContext({breakOnSigint: true, displayErrors: false});
	} catch (error) {
		if (error?.code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED')
			throw error;
		signalHitCode = true;
		interrupt();
	} finally {
		restoreWatchdog();
	}
	return value;
}

let watchdogReplaced = false; // the watchdog may have been replaced by another SIGINT handler

// A SIGINT listener of the code replaces the watchdog. Restore it after the last listener is removed; that is
// possible only between two scripts.
function restoreWatchdog() {
	if (!watchdogReplaced || process.listenerCount('SIGINT'))
		return;
	watchdog?.stopSigintWatchdog();
	watchdog?.startSigintWatchdog();
}

// SIGINT interrupts a script. Between two scripts it would kill Node.js; while the watchdog is active, it
// only sets a flag.
function watchForInterrupts() {
	watchdog?.startSigintWatchdog();
	process.on('removeListener', name => {
		watchdogReplaced ||= name === 'SIGINT';
		restoreWatchdog();
	});
	if (!watchdog)
		process.on('SIGINT', () => {});
	port.send(makeFrame(FRAME.WATCHING, 0, () => {}));
}

let signalHitCode = false; // a signal has interrupted code

// The previous job was sent a SIGINT. If it interrupted no code, another thread may still deliver it, and it
// would hit this job: wait for it and discard it.
function absorbSignal() {
	if (watchdog && !signalHitCode && !process.listenerCount('SIGINT')) {
		const never = new Int32Array(new SharedArrayBuffer(4));
		for (let i = 0; i < 500 && !watchdog.watchdogHasPendingSigint(); i++)
			Atomics.wait(never, 0, 0, 1);
		watchdog.startSigintWatchdog();
		watchdog.stopSigintWatchdog();
	}
	signalHitCode = false;
}

function interrupt() {
	if (!run || !session)
		return;
	run.fail(withFailure(new Error('interrupted'), {name: 'InterruptError', code: 'interrupted'}));
	complete();
}

class ExitSignal extends Error {
}

// Timer callbacks are interruptible too.
function wrapTimers() {
	for (const name of ['setTimeout', 'setInterval', 'setImmediate']) {
		const original = globalThis[name];
		const wrapped = (callback, ...rest) =>
			original(typeof callback === 'function' ? (...args) => interruptible(() => callback(...args)) : callback, ...rest);
		Object.defineProperties(wrapped, {
			name: {value: name},
			[promisify.custom]: {value: original[promisify.custom]},
		});
		globalThis[name] = wrapped;
	}
}

function beginSession() {
	session = true;
	watchForInterrupts();
	wrapTimers();
	process.exit = code => {
		throw withFailure(new ExitSignal(`exit status ${Number(code ?? process.exitCode ?? 0)}`),
			{name: 'ExitError', code: 'exit_code', exit: Number(code ?? process.exitCode ?? 0) & 255});
	};
}

function define(name, value) {
	Object.defineProperty(globalThis, name, {value, writable: true, configurable: true, enumerable: false});
}

function enterSession(job) {
	if (!session)
		beginSession();
	const before = loader;
	loader = new Loader(job);
	if (before) {
		job.imports = {...before.job.imports, ...job.imports};
		for (const [name, source] of before.sources)
			if (!loader.sources.has(name))
				loader.sources.set(name, source);
		loader.modules = before.modules;
		loader.commons = before.commons;
	}
	const module = loader.makeCommon(job.filename);
	define('require', module.require);
	define('module', module);
	define('exports', module.exports);
	define('__filename', module.filename);
	define('__dirname', path.dirname(module.filename));
	for (const name of Object.keys(job.globals))
		define(name, job.globals[name]);
}

let sources = 0;

// Sources of a session may share a filename; unique names map errors to the right source.
function nameSource(filename) {
	return positions.has(filename) ? `${filename}[${++sources + 1}]` : filename;
}

function runInSession(job) {
	enterSession(job);
	const name = nameSource(job.filename);
	const source = new Source(job.source, name);
	const implicit = job.exportName === null && (source.tree === null || lastValue(source) !== null);
	const returnsPromise = persistDeclarations(source);
	const code = source.apply();
	positions.set(name, source);
	let script;
	try {
		script = new vm.Script(code, {filename: name, importModuleDynamically: loader.dynamic});
	} catch (error) {
		throw unlinked(error);
	}
	const current = run;
	const value = interruptible(() => {
		const returned = script.runInThisContext({displayErrors: false});
		return returnsPromise ? returned : implicit ? Promise.resolve(returned) : undefined;
	});
	if (run !== current || current.outcome)
		return null;
	if (job.exportName === null)
		return Promise.resolve(value).then(settled => ({value: implicit ? settled : undefined, implicit: true}));
	return Promise.resolve(value).then(() => selectExport(job, globalThis)).then(settled => ({value: settled}));
}

// --- any run

const queue = []; // queued jobs, in order of arrival
const NOTHING = {result: 0, output: 0, settings: {}};

function enqueue(reader, priming) {
	queue.push([reader, priming]);
	if (queue.length === 1)
		beginNext();
}

// A job stays in the queue until it begins, so that a job that arrives meanwhile cannot overtake it.
function beginNext() {
	if (!run && queue.length)
		begin(...queue.shift());
}

// A warm-up job runs like any other, with its output discarded.
function begin(reader, priming) {
	run = new Run(NOTHING, frame => port.send(frame));
	run.priming = port.muted = priming;
	port.letGo();
	process.exitCode = undefined;
	try {
		run.job = readJob(reader);
	} catch (error) {
		run.fail(error);
		complete();
		return;
	}
	if (priming) {
		run.job.output = run.job.result;
		v8.setFlagsFromString('--no-lazy-feedback-allocation'); // faster warm-up
	}
	execute(run.job);
}

async function execute(job) {
	const current = run;
	Object.assign(process.env, job.settings.secrets); // placeholders
	try {
		const done = await (job.settings.session ? runInSession(job) : runOnce(job));
		if (done)
			current.succeed(done.value, done.implicit);
	} catch (error) {
		settleThrown(current, error);
	}
	if (current.job.settings.session && run === current)
		complete();
}

function settleThrown(current, error) {
	const exit = error?.[FAILURE]?.exit;
	if (exit === 0)
		current.succeed(undefined, true);
	else
		current.fail(error);
	if (exit !== undefined && run === current)
		port.send(exitFrame(exit));
}

// Called when the outcome is known and no work is left.
function complete() {
	const done = run, last = !session && !done.priming;
	if (!session)
		finishProgram(done);
	run = null;
	port.send(done.outcome);
	if (last)
		port.finish();
	port.hold();
	if (done.priming)
		resetAfterPriming();
	if (queue.length)
		setImmediate(beginNext);
}

function resetAfterPriming() {
	v8.setFlagsFromString('--lazy-feedback-allocation');
	port.muted = false;
	loader = null;
	positions.clear();
}

// Emits 'exit' like a program that ends.
function finishProgram(done) {
	try {
		process.emit('exit', process.exitCode ?? (done.succeeded ? 0 : 1));
	} catch (error) {
		done.overturn(error);
	}
	if (process.exitCode !== undefined)
		done.exit(Number(process.exitCode) & 255);
}

function onUncaught(error) {
	if (process.listenerCount('uncaughtException') > 1)
		return;
	if (!run) {
		process.stderr.write(`${describe(error)}\n`);
		return;
	}
	if (error?.[FAILURE]?.exit !== undefined)
		settleThrown(run, error);
	else
		run.overturn(error);
	complete();
}

function onRejection(reason) {
	if (process.listenerCount('unhandledRejection') > 1)
		return;
	onUncaught(reason);
}

// The event loop is empty.
function onIdle() {
	if (!run)
		return;
	if (!run.outcome) {
		if (bridge.awaited) {
			port.hold();
			return;
		}
		run.deadlock();
	}
	complete();
}

function onFrame(frame) {
	if (session && run)
		interruptible(() => bridge.receive(frame));
	else
		bridge.receive(frame);
	if (run && !bridge.pending.size)
		port.letGo();
}

if (stacks.format && stacks.replace) {
	stacks.replace((realm, error, trace) => presentStack(error, trace, (error, trace) => stacks.format(realm, error, trace)));
	stacksAreMapped = true;
}
bridge.onJob = enqueue;
captureConsole(console, Console, sendWhileRunning, () => run?.job.output ?? 0);
tidyProcess();
orderOutput((stream, bytes) => {
	if (!run)
		return false;
	for (let at = 0; at < bytes.length; at += OUTPUT_STEP)
		port.send(makeFrame(FRAME.OUTPUT, OUTPUT_STEP + FRAME_HEAD, out => {
			out.number(stream);
			out.blob(bytes.subarray(at, at + OUTPUT_STEP));
		}));
	return true;
});
process.getBuiltinModule &&= name => {
	if (!isBuiltin(name))
		return undefined;
	loader?.policy.check(name);
	return require(name);
};
process.on('uncaughtException', onUncaught);
process.on('unhandledRejection', onRejection);
process.on('beforeExit', onIdle);
bridge.onInterrupt = interrupt;
bridge.onSignalled = absorbSignal;
port.listen(onFrame);
port.send(makeFrame(FRAME.READY, 0, () => {}));
