// The JSON text of what a function body returned. What JSON cannot express becomes a text in brackets, so that the rest
// of the value is kept; docs/CORE_EXECUTE.md has the list. Evaluated before the code, so these functions are the engine's.
'use strict';
const {apply} = Reflect;
const {isArray} = Array;
const {keys} = Object;
const {isView} = ArrayBuffer;
const {stringify} = JSON;
const {isFinite} = Number;
const text = String;
const errorToString = Error.prototype.toString;
const regexpToString = RegExp.prototype.toString;
const mapForEach = Map.prototype.forEach;
const setForEach = Set.prototype.forEach;
const errors = Error, regexps = RegExp, promises = Promise, maps = Map, sets = Set, buffers = ArrayBuffer;
const boxes = [Number, String, Boolean, BigInt];
const DEPTH_MAX = 100, KEPT = 200;

const {join} = Array.prototype;
const {slice} = String.prototype;

return (root, max) => {
	const parts = [], open = [];
	let length = 0;
	const full = () => length > max;
	const put = (part) => {
		parts[parts.length] = part;
		length += part.length;
	};
	const note = (words) => put(stringify('[' + words + ']'));

	const putString = (value) => {
		// No more than can be kept: a guest may return a very long text.
		let kept = '';
		for (let i = 0; i < value.length && i <= max - length; i += 4096)
			kept += apply(slice, value, [i, i + 4096]);
		put(stringify(kept));
	};
	const putList = (each) => {
		let n = 0;
		put('[');
		each((item) => {
			if (full())
				return;
			if (n++)
				put(',');
			write(item);
		});
		put(']');
	};
	const putPairs = (names, read) => {
		put('{');
		for (let i = 0; i < names.length && !full(); i++) {
			if (i)
				put(',');
			putString(names[i]);
			put(':');
			write(read, names[i]);
		}
		put('}');
	};
	const putObject = (value) => {
		const read = (name) => value[name];
		if (isArray(value) || (isView(value) && typeof value.length === 'number'))
			putList((item) => {
				for (let i = 0; i < value.length && !full(); i++)
					item(value[i]);
			});
		else if (value instanceof sets)
			putList((item) => apply(setForEach, value, [(element) => item(element)]));
		else if (value instanceof maps)
			putList((item) => apply(mapForEach, value, [(element, key) => item([key, element])]));
		else if (value instanceof promises)
			note('promise');
		else if (value instanceof regexps)
			note(apply(regexpToString, value, []));
		else if (value instanceof buffers || isView(value))
			note(value.byteLength + ' bytes');
		else if (value instanceof errors)
			note(apply(errorToString, value, []));
		else
			putPairs(keys(value), read);
	};
	const unbox = (value) => {
		for (let i = 0; i < boxes.length; i++)
			if (value instanceof boxes[i])
				return value.valueOf();
		return value;
	};
	const writeObject = (given) => {
		let value = given;
		for (let i = 0; i < open.length; i++)
			if (open[i] === value)
				return note('circular');
		if (open.length >= DEPTH_MAX)
			return note('too deep');
		open[open.length] = value;
		if (typeof value.toJSON === 'function')
			value = value.toJSON();
		value = value === null ? value : unbox(value);
		if (value !== given)
			write(value);
		else
			putObject(value);
		open.length--;
	};
	const writeAny = (value) => {
		switch (typeof value) {
		case 'string':
			return putString(value);
		case 'number':
			return isFinite(value) ? put(stringify(value)) : note(text(value));
		case 'boolean':
			return put(value ? 'true' : 'false');
		case 'undefined':
			return note('undefined');
		case 'bigint':
			return put(stringify(text(value) + 'n'));
		case 'symbol':
			return note(text(value));
		case 'function':
			return note(value.name ? 'function ' + value.name : 'function');
		default:
			return value === null ? put('null') : writeObject(value);
		}
	};
	// A getter or toJSON() that throws costs its own value only.
	const write = (value, name) => {
		const depth = open.length, n = parts.length, before = length;
		try {
			writeAny(name === undefined ? value : value(name));
		} catch (error) {
			open.length = depth;
			parts.length = n;
			length = before;
			let why = 'an exception';
			try {
				why = text(error);
			} catch {
				// an error without a text
			}
			note('threw ' + apply(slice, why, [0, KEPT]));
		}
	};
	write(root);
	return apply(join, parts, ['']);
};
