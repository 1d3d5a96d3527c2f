// Jobs: one, or those of a session.

const port = new Port();
const bridge = new Bridge(port);
let run = null; // the one under way
let loader = null;
let session = false;
const OUTPUT_STEP = 32 << 10;

function sendWhileRunning(frame) {
	if (run)
		port.send(frame);
}

// --- one run

// A statement's end without its semicolon.
function endOf(source, statement) {
	return source.text[statement.end - 1] === ';' ? statement.end - 1 : statement.end;
}

// The last statement, between @before and a parenthesis.
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

// Do @step, and what it leaves to be done at once, so that an interrupt ends it whatever it does.
function breakable(step) {
	let value;
	globalThis[STEP] = () => {
		delete globalThis[STEP];
		value = step();
		process._tickCallback?.();
	};
	try {
		stepScript.runInThisContext({breakOnSigint: true});
	} catch (error) {
		if (error?.code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED')
			throw error;
		broken = true;
		interrupt();
	} finally {
		watchAgain();
	}
	return value;
}

let unwatched = false; // something else may have taken the watchdog's place

// A listener of the code's does; when the last one goes, the watchdog comes back, which it can between two scripts only.
function watchAgain() {
	if (!unwatched || process.listenerCount('SIGINT'))
		return;
	watchdog?.stopSigintWatchdog();
	watchdog?.startSigintWatchdog();
}

// SIGINT breaks a script. Between two scripts Node.js would die of it, were its watchdog not kept, which then takes note
// of it and does nothing.
function watchForInterrupts() {
	watchdog?.startSigintWatchdog();
	process.on('removeListener', name => {
		unwatched ||= name === 'SIGINT';
		watchAgain();
	});
	if (!watchdog)
		process.on('SIGINT', () => {});
	port.send(makeFrame(FRAME.WATCHING, 0, () => {}));
}

let broken = false; // a signal has met code

// The job before this one was sent a signal. If it met no code it may still be on its way, through another thread, and
// would meet this one's: so it is waited for, and forgotten.
function awaitSignal() {
	if (watchdog && !broken && !process.listenerCount('SIGINT')) {
		const never = new Int32Array(new SharedArrayBuffer(4));
		for (let i = 0; i < 500 && !watchdog.watchdogHasPendingSigint(); i++)
			Atomics.wait(never, 0, 0, 1);
		watchdog.startSigintWatchdog();
		watchdog.stopSigintWatchdog();
	}
	broken = false;
}

function interrupt() {
	if (!run || !session)
		return;
	run.fail(told(new Error('interrupted'), {name: 'InterruptError', code: 'interrupted'}));
	complete();
}

class ExitSignal extends Error {
}

// What comes back from a timer can be interrupted as well.
function wrapTimers() {
	for (const name of ['setTimeout', 'setInterval', 'setImmediate']) {
		const original = globalThis[name];
		const wrapped = (callback, ...rest) =>
			original(typeof callback === 'function' ? (...args) => breakable(() => callback(...args)) : callback, ...rest);
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
		throw told(new ExitSignal(`exit status ${Number(code ?? process.exitCode ?? 0)}`),
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

// Sources of a session may all have one name, but errors must be found in the right one.
function nameSource(filename) {
	return positions.has(filename) ? `${filename}[${++sources + 1}]` : filename;
}

function runInSession(job) {
	enterSession(job);
	const name = nameSource(job.filename);
	const source = new Source(job.source, name);
	const implicit = job.exportName === null && (source.tree === null || lastValue(source) !== null);
	const gives_promise = makeLasting(source);
	const code = source.apply();
	positions.set(name, source);
	let script;
	try {
		script = new vm.Script(code, {filename: name, importModuleDynamically: loader.dynamic});
	} catch (error) {
		throw unlinked(error);
	}
	const current = run;
	const value = breakable(() => {
		const given = script.runInThisContext();
		return gives_promise ? given : implicit ? Promise.resolve(given) : undefined;
	});
	if (run !== current || current.outcome)
		return null;
	if (job.exportName === null)
		return Promise.resolve(value).then(settled => ({value: implicit ? settled : undefined, implicit: true}));
	return Promise.resolve(value).then(() => selectExport(job, globalThis)).then(settled => ({value: settled}));
}

// --- any run

const waiting = []; // jobs not begun, in the order in which they came
const NOTHING = {result: 0, output: 0, settings: {}};

function enqueue(reader, priming) {
	waiting.push([reader, priming]);
	if (waiting.length === 1)
		beginNext();
}

// The first of them stays in the list until it begins, so that none that comes meanwhile overtakes it.
function beginNext() {
	if (!run && waiting.length)
		begin(...waiting.shift());
}

// A job for nobody is done as any other, unheard.
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
		v8.setFlagsFromString('--no-lazy-feedback-allocation'); // so that little warming up does much
	}
	execute(run.job);
}

async function execute(job) {
	const current = run;
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
	const exit = error?.[TOLD]?.exit;
	if (exit === 0)
		current.succeed(undefined, true);
	else
		current.fail(error);
	if (exit !== undefined && run === current)
		port.send(exitFrame(exit));
}

// The outcome is known and nothing is left to be done.
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
		forgetPriming();
	if (waiting.length)
		setImmediate(beginNext);
}

function forgetPriming() {
	v8.setFlagsFromString('--lazy-feedback-allocation');
	port.muted = false;
	loader = null;
	positions.clear();
}

// What a program does at its end.
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
	if (error?.[TOLD]?.exit !== undefined)
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

// The loop has nothing left to do.
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
		breakable(() => bridge.receive(frame));
	else
		bridge.receive(frame);
	if (run && !bridge.pending.size)
		port.letGo();
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
bridge.onSignalled = awaitSignal;
port.listen(onFrame);
port.send(makeFrame(FRAME.READY, 0, () => {}));
