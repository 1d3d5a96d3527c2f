// The classes of the web in the network tier. The files of this folder are, in the order of the build, the body of one
// function. `require` is the object of functions that ../web.c provides.
const native = require;

const usv = (value) => `${value}`.toWellFormed();
const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

// Web IDL: members of a class are enumerable, and instances have a tag.
const publish = (name, constructor, tag = name) => {
	for (const target of [constructor, constructor.prototype])
		for (const [key, member] of Object.entries(Object.getOwnPropertyDescriptors(target)))
			if (key !== 'constructor' && key !== 'prototype' && key !== 'name' && key !== 'length' && member.configurable)
				Object.defineProperty(target, key, {...member, enumerable: true});
	Object.defineProperty(constructor.prototype, Symbol.toStringTag, {value: tag, configurable: true});
	Object.defineProperty(globalThis, name, {value: constructor, writable: true, configurable: true});
};

// A private object that only code of this file can make is the first argument of an internal construction.
const INTERNAL = {};

const needArguments = (what, given, needed) => {
	if (given < needed)
		throw new TypeError(`${what} needs ${needed} argument${needed > 1 ? 's' : ''}, but has ${given}`);
};

// The iterator of a Web IDL "iterable": it sees changes that are made while it runs.
const IteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
const makeIterable = (constructor, tag, entriesOf) => {
	const states = new WeakMap();
	const prototype = Object.create(IteratorPrototype, {
		next: {
			value: function next() {
				const state = states.get(this);
				if (!state)
					throw new TypeError(`next is called on another object than a ${tag}`);
				const entry = entriesOf(state.target)[state.index++];
				if (!entry)
					return {value: undefined, done: true};
				return {value: state.kind === 'entries' ? [entry[0], entry[1]] : entry[state.kind === 'keys' ? 0 : 1], done: false};
			},
			writable: true, enumerable: true, configurable: true,
		},
		[Symbol.toStringTag]: {value: tag, configurable: true},
	});
	const start = (target, kind) => {
		entriesOf(target);
		const iterator = Object.create(prototype);
		states.set(iterator, {target, kind, index: 0});
		return iterator;
	};
	const members = {
		entries() {
			return start(this, 'entries');
		},
		keys() {
			return start(this, 'keys');
		},
		values() {
			return start(this, 'values');
		},
		forEach(callback, thisArgument) {
			needArguments('forEach', arguments.length, 1);
			if (typeof callback !== 'function')
				throw new TypeError('forEach takes a function');
			for (let i = 0, entry; (entry = entriesOf(this)[i]); i++)
				callback.call(thisArgument, entry[1], entry[0], this);
		},
	};
	for (const name of Object.keys(members))
		Object.defineProperty(constructor.prototype, name, {value: members[name], writable: true, configurable: true});
	Object.defineProperty(constructor.prototype, Symbol.iterator, {value: members.entries, writable: true, configurable: true});
};

class DOMException extends Error {
	#name;
	constructor(message = '', name = 'Error') {
		super(`${message}`);
		this.#name = `${name}`;
		Object.defineProperty(this, 'message', {value: `${message}`, configurable: true, writable: true});
	}
	get name() {
		return this.#name;
	}
	get code() {
		return Math.max(0, domCodes.indexOf(this.#name));
	}
}
const domCodes = [
	'', 'IndexSizeError', '', 'HierarchyRequestError', 'WrongDocumentError', 'InvalidCharacterError', '',
	'NoModificationAllowedError', 'NotFoundError', 'NotSupportedError', 'InUseAttributeError', 'InvalidStateError',
	'SyntaxError', 'InvalidModificationError', 'NamespaceError', 'InvalidAccessError', '', 'TypeMismatchError',
	'SecurityError', 'NetworkError', 'AbortError', 'URLMismatchError', 'QuotaExceededError', 'TimeoutError',
	'InvalidNodeTypeError', 'DataCloneError',
];
const DOM_CONSTANTS = ['', 'INDEX_SIZE_ERR', 'DOMSTRING_SIZE_ERR', 'HIERARCHY_REQUEST_ERR', 'WRONG_DOCUMENT_ERR',
	'INVALID_CHARACTER_ERR', 'NO_DATA_ALLOWED_ERR', 'NO_MODIFICATION_ALLOWED_ERR', 'NOT_FOUND_ERR', 'NOT_SUPPORTED_ERR',
	'INUSE_ATTRIBUTE_ERR', 'INVALID_STATE_ERR', 'SYNTAX_ERR', 'INVALID_MODIFICATION_ERR', 'NAMESPACE_ERR',
	'INVALID_ACCESS_ERR', 'VALIDATION_ERR', 'TYPE_MISMATCH_ERR', 'SECURITY_ERR', 'NETWORK_ERR', 'ABORT_ERR',
	'URL_MISMATCH_ERR', 'QUOTA_EXCEEDED_ERR', 'TIMEOUT_ERR', 'INVALID_NODE_TYPE_ERR', 'DATA_CLONE_ERR'];
for (const target of [DOMException, DOMException.prototype])
	DOM_CONSTANTS.slice(1).forEach((name, i) => Object.defineProperty(target, name, {value: i + 1, enumerable: true}));
publish('DOMException', DOMException);
