// One run, from its job to its result; shared by Node.js and Deno.

const CARRIER = Symbol.for('glovebox.carrier');

// Marks @error as a failure before evaluation: the code could not be parsed or linked.
function unlinked(error) {
	if (typeof error === 'object' && error !== null)
		Object.defineProperty(error, FAILURE, {value: {...error[FAILURE], status: STATUS.LINK_ERROR}, configurable: true});
	return error;
}

// Global bindings that are not properties of globalThis; visible in modules too.
function defineGlobals(globals) {
	const names = Object.keys(globals);
	if (!names.length)
		return;
	globalThis[CARRIER] = globals;
	vm.runInThisContext(names.map(name => `let ${name}=globalThis[Symbol.for('glovebox.carrier')].${name};`).join(''),
		{filename: 'glovebox:globals'});
	delete globalThis[CARRIER];
}

// The requested export: called if it is a function.
function callExport(name, value, args) {
	if (typeof value === 'function')
		return value(...args);
	if (args.length)
		throw withFailure(new TypeError(`'${name}' is not a function, so it takes no arguments`), {code: 'not_a_function'});
	return value;
}

// From a module namespace, or from module.exports.
function selectExport(job, exports) {
	const name = job.exportName ?? 'default';
	if (Object.hasOwn(exports, name))
		return callExport(name, exports[name], job.args);
	if (job.flags & FLAG.EXPORT_REQUIRED)
		throw withFailure(new ReferenceError(`the code exports nothing named '${name}'`),
			{status: STATUS.LINK_ERROR, name: 'SyntaxError', code: 'no_export'});
	return undefined;
}

class Run {
	constructor(job, send) {
		this.job = job;
		this.send = send;
		this.outcome = null; // a frame, once the outcome is known
	}

	// @implicit: the caller did not request this value by name, so return a description of it if it
	// cannot cross.
	succeed(value, implicit) {
		if (this.outcome)
			return;
		try {
			this.outcome = successFrame(this.job, value, STRICT);
		} catch (error) {
			if (!implicit || !(error instanceof SerializationError))
				return this.fail(error);
			this.outcome = successFrame(this.job, describe(value), STRICT);
		}
		this.succeeded = true;
	}

	fail(error) {
		this.outcome ??= failureFrame(describeFailure(error));
	}

	// An unhandled error fails the run, even if it already has a value.
	overturn(error) {
		if (this.succeeded)
			this.outcome = null;
		this.succeeded = false;
		this.fail(error);
	}

	deadlock() {
		this.fail(withFailure(new Error('a promise that the run waits for can never settle: nothing is left that could resolve it'),
			{name: 'DeadlockError', code: 'never_settles'}));
	}

	// Record the program's exit code.
	exit(code) {
		if (this.succeeded && code !== 0) {
			this.overturn(withFailure(new Error(`exit status ${code}`), {name: 'ExitError', code: 'exit_code'}));
		}
		this.send(exitFrame(code));
	}
}
