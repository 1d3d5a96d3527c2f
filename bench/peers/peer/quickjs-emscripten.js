'use strict';
const { installFromNpm, installedVersion, requireFrom } = require('../tools.js');
const name = 'quickjs-emscripten';

module.exports = {
	name,
	kind: 'in process',
	note: 'in process; new runtime and context inside one shared WebAssembly module',
	install: () => installFromNpm(name, '^0.32.0'),
	version: () => installedVersion(name),

	async prepare() {
		const quickjs = await requireFrom(name)(name).getQuickJS();
		return () => {
			const context = quickjs.newContext();
			const value = context.unwrapResult(context.evalCode('1+1')).consume(context.getNumber);
			context.dispose();
			return value;
		};
	},
};
