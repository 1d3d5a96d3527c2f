// The beginning of the function that consists of all these files, in Node.js. They share its scope; each uses
// definitions of the files before it. It is called with require() of the main program.
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
const stacks = findStackFormatter();

// The parser that Node.js includes for its REPL. Without it, sessions support neither top-level await nor
// redeclarations.
function findParser() {
	try {
		return require('internal/deps/acorn/acorn/dist/acorn');
	} catch {
		return {parse() {
			throw new SyntaxError('there is no parser');
		}};
	}
}

// The watchdog that Node.js includes for its REPL. Without it, a SIGINT between two scripts may end the
// session.
function findWatchdog() {
	try {
		return require('internal/test/binding').internalBinding('contextify');
	} catch {
		return null;
	}
}

// The function that formats stacks, and the one that replaces it. A hook in Error.prepareStackTrace would be visible to
// the code.
function findStackFormatter() {
	try {
		return {format: require('internal/errors').prepareStackTraceCallback,
			replace: require('internal/test/binding').internalBinding('errors').setPrepareStackTraceCallback};
	} catch {
		return {};
	}
}
