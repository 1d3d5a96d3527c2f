// The process object as seen by the code: without traces of descriptor it was started, and without ways around the
// module policy.

const packages = createRequire('/opt/glovebox/packages.js');
// The same for packages that are ES modules, if this Node.js version supports it.
const packageImport = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER === undefined ? null :
	new vm.Script('specifier => import(specifier)', {filename: '/opt/glovebox/packages.js',
		importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER}).runInThisContext();

// An empty process.env that converts values to strings, like the real one.
function emptyEnvironment() {
	const check = value => {
		if (typeof value === 'symbol')
			throw new TypeError('Cannot convert a Symbol value to a string');
		return String(value);
	};
	return new Proxy({}, {
		set: (target, name, value) => typeof name === 'symbol' ? false : Reflect.set(target, name, check(value)),
		defineProperty: (target, name, descriptor) => Reflect.defineProperty(target, name, {...descriptor, value: check(descriptor.value)}),
	});
}

function deny(name) {
	return () => {
		throw withFailure(new Error(`${name} is not available here`), {code: 'denied'}, 'ERR_DENIED');
	};
}

function tidyProcess() {
	// Globals that node -e defines.
	for (const name of [...builtinModules, 'module', 'exports', 'require', '__filename', '__dirname'])
		if (Object.hasOwn(globalThis, name) && name !== 'console' && name !== 'process')
			delete globalThis[name];
	process.env = emptyEnvironment();
	process.execArgv = [];
	process.argv.length = 1;
	process.mainModule = undefined;
	for (const name of ['dlopen', 'binding', '_linkedBinding'])
		process[name] = deny(`process.${name}()`);
	// V8's own abort means out of memory, so process.abort() must end differently.
	process.abort = () => process.reallyExit(134);
}

// --- output

// The bytes that fs.writeSync(fd, data, ...rest) writes; null to let writeSync itself handle or reject the
// arguments.
function bytesOf(data, rest) {
	if (typeof data === 'string')
		return Buffer.from(data, typeof rest[1] === 'string' ? rest[1] : 'utf8');
	if (!ArrayBuffer.isView(data) || rest.length)
		return null;
	return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

// Sends writes to stdout and stderr as frames on the same channel as log lines, to keep them in order.
// @send(stream, bytes) returns false while no job runs; then they go to the pipe.
function orderOutput(send) {
	for (const [name, stream] of [['stdout', 1], ['stderr', 2]]) {
		const {get} = Object.getOwnPropertyDescriptor(process, name);
		let own = null;
		const order = out => {
			const plain = out._write;
			out._writev = null;
			out._write = function (chunk, encoding, callback) {
				const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
				if (send(stream, bytes))
					callback();
				else
					plain.call(out, chunk, encoding, callback);
			};
			return out;
		};
		Object.defineProperty(process, name, {
			configurable: true, enumerable: true, get: () => own ??= order(get.call(process)),
		});
	}
	const {writeSync} = fs;
	fs.writeSync = function (fd, data, ...rest) {
		const bytes = fd === 1 || fd === 2 ? bytesOf(data, rest) : null;
		return bytes && send(fd, bytes) ? bytes.length : writeSync(fd, data, ...rest);
	};
}
