// Module resolution: the host's imports, sources in the job, files in the box, Node.js built-ins, and
// packages configured in the engine. ES modules and CommonJS share it.

const BOX = '/box';
const PACKAGES = '/opt/glovebox/node_modules';

class Loader {
	constructor(job) {
		this.job = job;
		this.policy = new Policy(job.settings.allowedModules);
		this.sources = new Map();
		for (const [name, source] of job.modules)
			this.sources.set(path.posix.normalize(name), source);
		this.modules = new Map(); // ES modules, by name
		this.commons = new Map(); // CommonJS modules, by name
		this.dynamic = this.dynamic.bind(this);
	}

	// "./b.js" in "lib/a.js" is "lib/b.js"
	resolve(specifier, referrer) {
		if (specifier.startsWith('file:'))
			specifier = url.fileURLToPath(specifier);
		if (path.posix.isAbsolute(specifier))
			return path.posix.normalize(specifier);
		return path.posix.join(path.posix.dirname(referrer), specifier);
	}

	isRelative(specifier) {
		return /^(\.\.?(\/|$)|\/|file:)/.test(specifier);
	}

	missing(specifier, why) {
		return withFailure(new Error(`Cannot find module '${specifier}'${why}`), {code: 'module_not_found', specifier},
			'MODULE_NOT_FOUND');
	}

	// A source by name: {name, text}. Files next to the program on the caller's machine are in the root
	// of the box.
	find(specifier, referrer) {
		const name = this.resolve(specifier, referrer);
		const here = referrer === this.job.filename ? this.resolve(specifier, path.posix.basename(referrer)) : name;
		for (const place of here === name ? [name] : [name, here])
			for (const ending of ['', '.js', '.cjs', '.mjs', '.json', '/index.js']) {
				const text = this.sources.get(place + ending) ?? this.read(place + ending);
				if (text !== null)
					return {name: place + ending, text};
			}
		throw this.missing(specifier, this.sources.size ? ': it is neither among the given modules nor a file in /box' :
			': there is no such file in /box');
	}

	read(name) {
		try {
			return fs.readFileSync(path.resolve(BOX, name), 'utf8');
		} catch {
			return null;
		}
	}

	// Exports of a module that is neither a source nor a file.
	external(specifier) {
		if (Object.hasOwn(this.job.imports, specifier))
			return this.job.imports[specifier];
		if (/^(https?|data|blob):/.test(specifier))
			throw withFailure(new Error(`modules cannot be loaded from URLs: '${specifier}'`), {code: 'module_denied', specifier});
		this.policy.check(specifier);
		if (isBuiltin(specifier))
			return bareName(specifier) === 'process' ? process : require(specifier);
		try {
			return packages(specifier);
		} catch (error) {
			if (error?.code === 'MODULE_NOT_FOUND' && textProperty(error, 'message')?.includes(`'${specifier}'`))
				throw this.missing(specifier, ': no such package in the package folder of the engine');
			throw error;
		}
	}

	// --- CommonJS

	requireFrom(referrer) {
		const require = specifier => this.require(String(specifier), referrer);
		require.resolve = specifier => this.isRelative(specifier) ? path.resolve(BOX, this.find(specifier, referrer).name) : specifier;
		require.cache = {};
		require.main = undefined;
		return require;
	}

	require(specifier, referrer) {
		if (!this.isRelative(specifier))
			return this.external(specifier);
		const {name, text} = this.find(specifier, referrer);
		if (name.endsWith('.json'))
			return JSON.parse(text);
		const known = this.commons.get(name);
		if (known)
			return known.exports;
		const source = new Source(text, name);
		if (name.endsWith('.mjs') || source.isModule)
			throw withFailure(new Error(`'${specifier}' is an ES module; use import, or await import('${specifier}')`),
				{code: 'require_esm', specifier}, 'ERR_REQUIRE_ESM');
		return this.runCommon(source, name).module.exports;
	}

	// Run as CommonJS. Returns the value of the last expression if @source was edited to return it.
	runCommon(source, name) {
		const module = this.makeCommon(name);
		const code = source.apply();
		positions.set(name, source);
		const full = module.filename;
		let run;
		try {
			run = vm.compileFunction(code, ['exports', 'require', 'module', '__filename', '__dirname'],
				{filename: name, importModuleDynamically: this.dynamic});
		} catch (error) {
			throw unlinked(error);
		}
		const returned = run.call(module.exports, module.exports, module.require, module, full, path.dirname(full));
		module.loaded = true;
		return {module, returned};
	}

	makeCommon(name) {
		const module = {id: name, filename: path.resolve(BOX, name), path: BOX, exports: {}, loaded: false, children: [],
			paths: [], require: this.requireFrom(name)};
		Object.defineProperty(module, 'original', {value: module.exports});
		this.commons.set(name, module);
		return module;
	}

	// --- ES modules

	makeModule(source, name) {
		const code = source.apply();
		positions.set(name, source);
		let module;
		try {
			module = new vm.SourceTextModule(code, {
				identifier: name,
				initializeImportMeta: meta => {
					meta.filename = path.resolve(BOX, name);
					meta.dirname = path.dirname(meta.filename);
					meta.url = url.pathToFileURL(meta.filename).href;
				},
				importModuleDynamically: this.dynamic,
			});
		} catch (error) {
			throw withFailure(error, {place: source.problem});
		}
		this.modules.set(name, module);
		return module;
	}

	// A module that exports the properties of @exports, and @exports itself as default.
	synthetic(name, exports) {
		const known = this.modules.get(name);
		if (known)
			return known;
		const names = typeof exports === 'object' && exports !== null || typeof exports === 'function' ? Object.keys(exports) : [];
		const all = new Set([...names, 'default']);
		const module = new vm.SyntheticModule([...all], function () {
			for (const key of names)
				this.setExport(key, exports[key]);
			if (!names.includes('default'))
				this.setExport('default', exports);
		}, {identifier: name});
		this.modules.set(name, module);
		return module;
	}

	async externalModule(specifier) {
		let exports;
		try {
			exports = this.external(specifier);
		} catch (error) {
			if (!['ERR_REQUIRE_ESM', 'ERR_PACKAGE_PATH_NOT_EXPORTED'].includes(error?.code) || !packageImport)
				throw error;
			exports = await packageImport(specifier);
		}
		return this.synthetic(`external:${specifier}`, exports);
	}

	// The module for @specifier in @referrer, not yet linked.
	async module(specifier, referrer) {
		if (!this.isRelative(specifier))
			return this.externalModule(specifier);
		const {name, text} = this.find(specifier, referrer);
		const known = this.modules.get(name);
		if (known)
			return known;
		if (name.endsWith('.json'))
			return this.synthetic(name, {default: JSON.parse(text)});
		const source = new Source(text, name);
		if (!name.endsWith('.cjs') && (name.endsWith('.mjs') || source.isModule || !/\b(module|exports|require)\b/.test(text)))
			return this.makeModule(source, name);
		return this.synthetic(name, this.require(specifier, referrer));
	}

	async link(module) {
		if (module.status !== 'unlinked')
			return;
		await module.link(async (specifier, referrer) => {
			try {
				return await this.module(specifier, referrer.identifier);
			} catch (error) {
				throw linkError(error, specifier, referrer.identifier);
			}
		});
	}

	// import()
	async dynamic(specifier, referrer) {
		const from = referrer?.identifier ?? this.job.filename;
		const module = await this.module(specifier, from);
		await this.link(module);
		await module.evaluate();
		return module;
	}
}

// Adds the specifier and its position to the error, unless it already has them.
function linkError(error, specifier, referrer) {
	if (typeof error === 'object' && error !== null && !error[FAILURE]?.place)
		withFailure(error, {specifier, ...error[FAILURE], place: positions.get(referrer)?.placeOf(specifier)});
	return error;
}
