// Which modules the code may load. Not a security boundary (the sandbox does not depend on it): it makes code
// declare its needs.

const SAFE = new Set([
	'assert', 'assert/strict', 'async_hooks', 'buffer', 'console', 'constants', 'crypto', 'diagnostics_channel', 'events',
	'fs', 'fs/promises', 'os', 'path', 'path/posix', 'path/win32', 'perf_hooks', 'process', 'punycode', 'querystring',
	'readline', 'readline/promises', 'stream', 'stream/consumers', 'stream/promises', 'stream/web', 'string_decoder', 'sys',
	'timers', 'timers/promises', 'tty', 'url', 'util', 'util/types', 'zlib',
]);

// Not included in "*": they start processes or threads, or bypass this policy. Allowed by name only.
const BY_NAME = new Set([
	'child_process', 'cluster', 'inspector', 'inspector/promises', 'module', 'repl', 'sea', 'test', 'test/reporters',
	'trace_events', 'v8', 'vm', 'wasi', 'worker_threads',
]);

// Without the internals of Node.js, which --expose-internals adds for our own use.
const builtins = new Set(builtinModules.map(bareName).filter(name => !/^(_|internal\/)/.test(name)));

function bareName(specifier) {
	return specifier.startsWith('node:') ? specifier.slice(5) : specifier;
}

function isBuiltin(specifier) {
	return builtins.has(bareName(specifier)) || (/^node:(?!_|internal\/)/.test(specifier) && isBuiltinModule(specifier));
}

// "lodash", "@scope/name" of "lodash/fp", "@scope/name/x"
function packageOf(specifier) {
	const parts = specifier.split('/');
	return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0];
}

// In a list: every module in SAFE. No module and no package has this name.
const ALL_SAFE = 'node:safe';

class Policy {
	// An empty list allows nothing; without a list it is [ALL_SAFE].
	constructor(allowed = [ALL_SAFE]) {
		this.allowed = new Set(allowed.filter(name => name !== ALL_SAFE).map(bareName));
		this.safe = allowed.includes(ALL_SAFE);
	}

	allows(specifier) {
		const name = bareName(specifier), {allowed} = this;
		if (isBuiltin(specifier))
			return allowed.has(name) || (this.safe && SAFE.has(name)) || (allowed.has('*') && !BY_NAME.has(name));
		// Never a package, even if listed.
		if (name.startsWith('internal/'))
			return false;
		return allowed.has(specifier) || allowed.has(packageOf(specifier)) || allowed.has('*');
	}

	check(specifier) {
		if (this.allows(specifier))
			return;
		const name = isBuiltin(specifier) ? bareName(specifier) : packageOf(specifier);
		throw withFailure(new Error(`module '${specifier}' is not allowed here; to allow it, name it: allowedModules: ['${name}'], ` +
			`or --allow ${name}`), {code: 'module_denied', specifier}, 'ERR_MODULE_DENIED');
	}
}
