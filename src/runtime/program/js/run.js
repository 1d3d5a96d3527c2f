// One run, from its job to its result; what is common to all programs that do that.

const CARRIER = Symbol.for('glovebox.carrier');

// Fails the run before any of it was evaluated: it is not a program.
function unlinked(error) {
	if (typeof error === 'object' && error !== null)
		Object.defineProperty(error, TOLD, {value: {...error[TOLD], status: STATUS.LINK_ERROR}, configurable: true});
	return error;
}

// Bindings of the global scope that are not properties of globalThis: modules see them, too.
function defineGlobals(globals) {
	const names = Object.keys(globals);
	if (!names.length)
		return;
	globalThis[CARRIER] = globals;
	vm.runInThisContext(names.map(name => `let ${name}=globalThis[Symbol.for('glovebox.carrier')].${name};`).join(''),
		{filename: 'glovebox:globals'});
	delete globalThis[CARRIER];
}

// What was asked for by name: called, if it is a function.
function callExport(name, value, args) {
	if (typeof value === 'function')
		return value(...args);
	if (args.length)
		throw told(new TypeError(`'${name}' is not a function, so it takes no arguments`), {code: 'not_a_function'});
	return value;
}

// Of a namespace, or of what require() would give.
function selectExport(job, exports) {
	const name = job.exportName ?? 'default';
	if (Object.hasOwn(exports, name))
		return callExport(name, exports[name], job.args);
	if (job.flags & FLAG.EXPORT_REQUIRED)
		throw told(new ReferenceError(`the code exports nothing named '${name}'`),
			{status: STATUS.LINK_ERROR, name: 'SyntaxError', code: 'no_export'});
	return undefined;
}

class Run {
	constructor(job, send) {
		this.job = job;
		this.send = send;
		this.outcome = null; // a frame, once it is known
	}

	// @implicit: nobody asked for this value by name, so a text of it will do if it cannot cross.
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

	// Something went wrong where nobody looked: it went wrong all the same, also if there is a value.
	overturn(error) {
		if (this.succeeded)
			this.outcome = null;
		this.succeeded = false;
		this.fail(error);
	}

	deadlock() {
		this.fail(told(new Error('a promise that the run waits for can never settle: nothing is left that could resolve it'),
			{name: 'DeadlockError', code: 'never_settles'}));
	}

	// How the program says that it went.
	exit(code) {
		if (this.succeeded && code !== 0) {
			this.overturn(told(new Error(`exit status ${code}`), {name: 'ExitError', code: 'exit_code'}));
		}
		this.send(exitFrame(code));
	}
}
