'use strict';
const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const { deps, installFromApt, runProgram } = require('../tools.js');

const WALL = ['--unshare-all', '--die-with-parent', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev'];
const quickjs = path.join(deps, 'quickjs-ng');
const qjs = path.join(quickjs, 'bin', 'qjs');

// The command line program of quickjs-ng: the same engine as in Glovebox.
function buildQjs() {
	const src = path.join(quickjs, 'src');
	if (fs.existsSync(qjs) || !fs.existsSync(src)) return;
	fs.mkdirSync(path.dirname(qjs), { recursive: true });
	const files = ['qjs.c', 'quickjs-libc.c', 'gen/repl.c', 'gen/standalone.c'].map((f) => path.join(src, f));
	const flags = ['-O2', '-w', '-std=gnu11', '-funsigned-char', '-D_GNU_SOURCE', '-DNDEBUG', '-DQUICKJS_NG_BUILD'];
	const libraries = [path.join(quickjs, 'lib', 'libqjs.a'), '-lm', '-lpthread', '-ldl'];
	spawnSync('gcc', [...flags, `-I${src}`, ...files, ...libraries, '-o', qjs]);
}

function program() {
	return fs.existsSync(qjs)
		? [qjs, '-e', 'print(eval("1+1"))']
		: [process.execPath, '-e', 'console.log(eval("1+1"))'];
}

module.exports = {
	name: 'bubblewrap',
	kind: 'process',
	get note() {
		return `new process in new namespaces, running ${path.basename(program()[0])}; no seccomp filter, no limits`;
	},
	install() {
		installFromApt();
		buildQjs();
	},
	version: () => spawnSync('bwrap', ['--version'], { encoding: 'utf8' }).stdout.trim().split(' ')[1],

	async prepare() {
		const args = [...WALL, ...program()];
		return () => runProgram('bwrap', args);
	},
};
