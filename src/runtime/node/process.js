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
