// The process as code finds it: nothing of how it was started, and nothing that goes around the list of modules.

const packages = createRequire('/opt/glovebox/packages.js');
// The same for packages that are ES modules, where this Node.js can do that.
const packageImport = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER === undefined ? null :
	new vm.Script('specifier => import(specifier)', {filename: '/opt/glovebox/packages.js',
		importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER}).runInThisContext();

// Texts by name, as the real one holds, and nothing in it.
function emptyEnvironment() {
	const check = value => {
		if (typeof value === 'symbol')
			throw new TypeError('Cannot convert a Symbol value to a string');
		return String(value);
	};
	return new Proxy({}, {
		set: (target, name, value) => typeof name === 'symbol' ? false : Reflect.set(target, name, check(value)),
		defineProperty: (target, name, how) => Reflect.defineProperty(target, name, {...how, value: check(how.value)}),
	});
}

function deny(name) {
	return () => {
		throw told(new Error(`${name} is not available here`), {code: 'denied'}, 'ERR_DENIED');
	};
}

function tidyProcess() {
	// What -e puts there.
	for (const name of [...builtinModules, 'module', 'exports', 'require', '__filename', '__dirname'])
		if (Object.hasOwn(globalThis, name) && name !== 'console' && name !== 'process')
			delete globalThis[name];
	process.env = emptyEnvironment();
	process.execArgv = [];
	process.argv.length = 1;
	process.mainModule = undefined;
	for (const name of ['dlopen', 'binding', '_linkedBinding'])
		process[name] = deny(`process.${name}()`);
	// As an abort of the engine's own would mean that memory is out.
	process.abort = () => process.reallyExit(134);
}

// --- output

// The bytes that fs.writeSync(fd, data, ...rest) writes; null if it is to say what is wrong itself.
function bytesOf(data, rest) {
	if (typeof data === 'string')
		return Buffer.from(data, typeof rest[1] === 'string' ? rest[1] : 'utf8');
	if (!ArrayBuffer.isView(data) || rest.length)
		return null;
	return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

// Writes to the standard streams become frames, on the channel that log lines take, so that the order of both is kept.
// @send(stream, bytes) is false while nothing runs; then they go into the pipe.
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
