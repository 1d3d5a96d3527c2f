// The beginning of the one function that all these files make up, in Node.js. They share its scope; each uses what those
// before it define. It is called with require() of the program that Node.js was started with.
'use strict';

const fs = require('fs');
const net = require('net');
const path = require('path');
const url = require('url');
const v8 = require('v8');
const vm = require('vm');
const {types, inspect, promisify} = require('util');
const {Console} = require('console');
const {createRequire, builtinModules} = require('module');
const {isBuiltin: isBuiltinModule} = require('module');
const acorn = findParser();
const watchdog = findWatchdog();

// Node.js has a parser inside, for its own REPL. Without it sessions know no top-level await, and no second declaration.
function findParser() {
	try {
		return require('internal/deps/acorn/acorn/dist/acorn');
	} catch {
		return {parse() {
			throw new SyntaxError('there is no parser');
		}};
	}
}

// And a watchdog, for its REPL too. Without it a signal that meets no code may end a session.
function findWatchdog() {
	try {
		return require('internal/test/binding').internalBinding('contextify');
	} catch {
		return null;
	}
}
