'use strict';
const fs = require('fs');
const path = require('path');
const { folderOf, installFromNpm, installedVersion, requireFrom, runProgram } = require('../tools.js');
const name = 'deno';

// The binary itself: the launcher of the package would add the start of a node process.
function binary() {
	return requireFrom(name).resolve(`@deno/linux-${process.arch}-glibc/deno`);
}

module.exports = {
	name,
	kind: 'process',
	note: 'new process without any permission',
	install: () => installFromNpm(name, '^2.0.0'),
	version: () => installedVersion(name),

	async prepare() {
		const file = binary();
		const script = path.join(folderOf(name), 'sum.js');
		fs.writeFileSync(script, 'console.log(eval("1+1"))\n');
		const env = { ...process.env, DENO_DIR: folderOf(name), DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' };
		return () => runProgram(file, ['run', '--no-prompt', '--no-config', script], { env });
	},
};
