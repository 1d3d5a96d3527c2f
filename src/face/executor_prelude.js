// Before the code of the executor: its functions. Evaluated before the code, so these functions are the engine's.
const {__callTool__, output, debug, __finish__, fetch, Deno} = ((callHost, console) => {
	const {parse, stringify} = JSON;
	const text = String;
	const {log, debug: note} = console;

	// A text as it is, another value as JSON. The host describes what JSON cannot express.
	const show = (value) => {
		if (typeof value === 'string')
			return value;
		try {
			return stringify(value) ?? value;
		} catch {
			return value;
		}
	};

	// The permissions that Deno would have denied.
	// Deno's own; or on JavaScript with a working directory, an object with functions for files.
	const own = globalThis.Deno;
	const NotCapable = own?.errors.NotCapable ?? class NotCapable extends Error {
		get name() {
			return 'NotCapable';
		}
	};
	const refuse = (access, flag) => {
		throw new NotCapable(`Requires ${access}, which this code does not have (--allow-${flag})`);
	};
	const refuseEnv = (name) => refuse(name === undefined ? 'env access' : `env access to "${text(name)}"`, 'env');
	class Command {
		#name;
		constructor(name) {
			this.#name = text(name);
		}
		#refuse() {
			refuse(`run access to "${this.#name}"`, 'run');
		}
		async output() {
			this.#refuse();
		}
		outputSync() {
			this.#refuse();
		}
		spawn() {
			this.#refuse();
		}
	}
	// The functions for files, each also with "Sync".
	const files = {};
	for (const [access, names] of [
		['read', ['readTextFile', 'readFile', 'readDir', 'readLink', 'realPath', 'stat', 'lstat', 'open']],
		['write', ['writeTextFile', 'writeFile', 'mkdir', 'remove', 'rename', 'create', 'truncate', 'chmod']],
	]) {
		for (const name of names) {
			const refuseFile = (path) => refuse(`${access} access to "${text(path)}"`, access);
			files[`${name}Sync`] = refuseFile;
			// readDir() gives an iterator, the others a promise.
			files[name] = name === 'readDir' ? refuseFile : async (path) => refuseFile(path);
		}
	}
	const denied = {
		...files,
		errors: {NotCapable},
		Command,
		env: {get: refuseEnv, set: refuseEnv, has: refuseEnv, delete: refuseEnv, toObject: () => refuseEnv()},
		dlopen: () => refuse('ffi access', 'ffi'),
	};

	return {
		__callTool__: async (name, params) => {
			const answer = await callHost(text(name), stringify(params === undefined ? {} : params));
			return answer === undefined ? undefined : parse(answer);
		},
		output: (data) => log(show(data)),
		debug: (message) => note(show(message)),
		// Whether the code has returned a value.
		__finish__: (value) => {
			if (value === undefined)
				return false;
			log(show(value));
			return true;
		},
		fetch: globalThis.fetch ?? (async (url) => refuse(`net access to "${text(url?.url ?? url)}"`, 'net')),
		Deno: own?.Command ? own : {...denied, ...own},
	};
})(__glovebox_call__, console);
