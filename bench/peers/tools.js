// Helpers of the peers: installing, and running a program to its end.
'use strict';
const { spawn, spawnSync } = require('child_process');
const { createRequire } = require('module');
const fs = require('fs');
const path = require('path');

const root = path.join(__dirname, '..', '..');
const deps = path.join(root, '.deps');
const INSTALL_TIMEOUT_MS = 600_000; // isolated-vm compiles C++
const NPM_FLAGS = ['--no-audit', '--no-fund', '--fetch-timeout=20000', '--fetch-retries=1'];

function folderOf(name) {
	return path.join(deps, 'peers', name);
}

// `require` as seen from the folder that an npm peer is installed in.
function requireFrom(name) {
	return createRequire(path.join(folderOf(name), 'package.json'));
}

function installedVersion(name) {
	const file = path.join(folderOf(name), 'node_modules', name, 'package.json');
	return JSON.parse(fs.readFileSync(file, 'utf8')).version;
}

// Installs name@range into .deps/peers/name, unless a finished install is there.
function installFromNpm(name, range) {
	const dir = folderOf(name);
	const stamp = path.join(dir, 'stamp');
	if (fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === range) return;
	fs.rmSync(dir, { recursive: true, force: true });
	fs.mkdirSync(dir, { recursive: true });
	fs.writeFileSync(path.join(dir, 'package.json'), '{"private": true}\n');
	const npm = spawnSync('npm', ['install', ...NPM_FLAGS, `${name}@${range}`], {
		cwd: dir,
		encoding: 'utf8',
		timeout: INSTALL_TIMEOUT_MS,
	});
	fs.writeFileSync(path.join(dir, 'npm.log'), `${npm.stdout}${npm.stderr}`);
	if (npm.status !== 0) {
		const code = /npm (?:error|ERR!) code (\S+)/.exec(npm.stderr)?.[1] ?? npm.error?.code ?? npm.status;
		throw new Error(`npm could not install it (${code}); see .deps/peers/${name}/npm.log`);
	}
	fs.writeFileSync(stamp, range);
}

// Runs scripts/setup, which can become root, for the packages of the peers.
function installFromApt() {
	const setup = spawnSync(path.join(root, 'scripts', 'setup'), ['peers'], { encoding: 'utf8' });
	if (setup.status !== 0) throw new Error(setup.stderr.split('\n')[0].replace(/^setup: /, ''));
}

// Runs a program until it has ended; resolves to the number it printed.
function runProgram(file, args, options = {}) {
	return new Promise((resolve, reject) => {
		const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
		let out = '';
		let err = '';
		child.stdout.on('data', (d) => (out += d));
		child.stderr.on('data', (d) => (err += d));
		child.on('error', reject);
		child.on('close', (code) =>
			code === 0 ? resolve(Number(out)) : reject(new Error(err.trim().split('\n')[0] || `exit code ${code}`)),
		);
	});
}

module.exports = { deps, folderOf, requireFrom, installedVersion, installFromNpm, installFromApt, runProgram };
