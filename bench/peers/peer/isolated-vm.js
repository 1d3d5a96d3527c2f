'use strict';
const { installFromNpm, installedVersion, requireFrom } = require('../tools.js');
const name = 'isolated-vm';

// Each major version follows one line of node.
function rangeForNode() {
	const major = Number(process.versions.node.split('.')[0]);
	if (major >= 24) return '^7.0.0';
	return major >= 22 ? '^6.0.0' : '^5.0.4';
}

module.exports = {
	name,
	kind: 'in process',
	note: 'in process; new V8 isolate and context',
	nodeFlags: ['--no-node-snapshot'], // required by its README
	install: () => installFromNpm(name, rangeForNode()),
	version: () => installedVersion(name),

	async prepare() {
		const ivm = requireFrom(name)(name);
		return () => {
			const isolate = new ivm.Isolate({ memoryLimit: 32 });
			const value = isolate.createContextSync().evalSync('1+1');
			isolate.dispose();
			return value;
		};
	},
};
