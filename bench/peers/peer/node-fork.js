'use strict';
const { fork } = require('child_process');

// As the child process, this file evaluates the code that it receives.
if (require.main === module) {
	process.once('message', (code) => process.send((0, eval)(code), () => process.disconnect()));
	return;
}

module.exports = {
	name: 'node-fork',
	kind: 'process',
	note: 'new process by child_process.fork; a process of its own, but no sandbox',
	install() {},
	version: () => process.versions.node,

	async prepare() {
		return () =>
			new Promise((resolve, reject) => {
				const child = fork(__filename);
				let value;
				child.on('message', (m) => (value = m));
				child.on('error', reject);
				child.on('exit', () => resolve(value));
				child.send('1+1');
			});
	},
};
