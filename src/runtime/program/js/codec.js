// CBOR encoder and decoder for values, as specified in docs/VALUES.md: the same bytes as src/runtime/js for
// the same values.

const TAG = {
	BIGINT: 2, NEGATIVE_BIGINT: 3, REFERENCE: 29, SET: 258, MAP: 259, WTF8: 273,
	DATE: 0x474201, VIEW: 0x474202, ERROR: 0x474203, REGEXP: 0x474204, FUNCTION: 0x474205, PROMISE: 0x474206,
};
const SIMPLE = {HOLE: 16, FALSE: 20, TRUE: 21, NULL: 22, UNDEFINED: 23};
const SIDE = {HOST: 0, SANDBOX: 1};
const DEPTH_MAX = 500;
const PATH_MAX = 200;
// Longer keys are omitted, not truncated: the redaction of secrets would miss a partial one.
const KEY_MAX = 100;
const CAUSES_MAX = 32; // deeper chains of causes are cut

const VIEWS = [
	'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array',
	'Float16Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array', 'DataView',
];
const viewName = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;
const ERRORS = {AggregateError, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError};

class SerializationError extends Error {
	get name() {
		return 'SerializationError';
	}
}

class TooLarge extends RangeError {
	get name() {
		return 'RangeError';
	}
}

// A byte buffer that grows up to a maximum.
class Writer {
	constructor(max) {
		this.max = max;
		this.length = 0;
		this.bytes = Buffer.allocUnsafe(512);
	}

	reserve(n) {
		const needed = this.length + n;
		if (needed > this.max)
			throw new TooLarge(`more than ${this.max} bytes`);
		if (needed <= this.bytes.length)
			return;
		const bytes = Buffer.allocUnsafe(Math.max(needed, this.bytes.length * 2));
		this.bytes.copy(bytes, 0, 0, this.length);
		this.bytes = bytes;
	}

	byte(b) {
		this.reserve(1);
		this.bytes[this.length++] = b;
	}

	// The shortest CBOR head for @n.
	head(major, n) {
		this.reserve(9);
		const first = major << 5;
		if (n < 24) {
			this.bytes[this.length++] = first | n;
		} else if (n < 0x100) {
			this.bytes[this.length++] = first | 24;
			this.bytes[this.length++] = n;
		} else if (n < 0x10000) {
			this.bytes[this.length++] = first | 25;
			this.length = this.bytes.writeUInt16BE(n, this.length);
		} else if (n < 0x100000000) {
			this.bytes[this.length++] = first | 26;
			this.length = this.bytes.writeUInt32BE(n, this.length);
		} else {
			this.bytes[this.length++] = first | 27;
			this.length = this.bytes.writeBigUInt64BE(BigInt(n), this.length);
		}
	}

	float(n) {
		this.reserve(9);
		this.bytes[this.length++] = 0xfb;
		if (n !== n) {
			this.length = this.bytes.writeUInt32BE(0x7ff80000, this.length);
			this.length = this.bytes.writeUInt32BE(0, this.length);
		} else {
			this.length = this.bytes.writeDoubleBE(n, this.length);
		}
	}

	number(n) {
		if (!Number.isSafeInteger(n) || Object.is(n, -0))
			this.float(n);
		else if (n >= 0)
			this.head(0, n);
		else
			this.head(1, -1 - n);
	}

	raw(bytes) {
		this.reserve(bytes.length);
		this.bytes.set(bytes, this.length);
		this.length += bytes.length;
	}

	blob(bytes) {
		this.head(2, bytes.length);
		this.raw(bytes);
	}

	text(text) {
		if (!isWellFormed(text)) {
			this.head(6, TAG.WTF8);
			this.blob(encodeWtf8(text));
			return;
		}
		const n = Buffer.byteLength(text);
		this.head(3, n);
		this.reserve(n);
		this.bytes.write(text, this.length, n, 'utf8');
		this.length += n;
	}

	textOrNull(text) {
		if (typeof text === 'string')
			this.text(text);
		else
			this.simple(SIMPLE.NULL);
	}

	simple(n) {
		this.byte(0xe0 | n);
	}

	tag(n) {
		this.head(6, n);
	}

	bigint(n) {
		const hex = (n < 0n ? -1n - n : n).toString(16);
		this.tag(n < 0n ? TAG.NEGATIVE_BIGINT : TAG.BIGINT);
		this.blob(hex === '0' ? Buffer.alloc(0) : Buffer.from(hex.length % 2 ? '0' + hex : hex, 'hex'));
	}
}

// Older engines lack String.prototype.isWellFormed.
function isWellFormed(text) {
	return text.isWellFormed ? text.isWellFormed() : !/\p{Surrogate}/u.test(text);
}

// UTF-8 that may contain lone surrogates.
function encodeWtf8(text) {
	const pieces = [];
	for (const char of text) {
		const code = char.codePointAt(0);
		if (code >= 0xd800 && code < 0xe000)
			pieces.push(Buffer.from([0xe0 | code >> 12, 0x80 | code >> 6 & 63, 0x80 | code & 63]));
		else
			pieces.push(Buffer.from(char));
	}
	return Buffer.concat(pieces);
}

function decodeWtf8(bytes) {
	let text = '', start = 0;
	for (let i = 0; i + 2 < bytes.length; i++) {
		if (bytes[i] !== 0xed || bytes[i + 1] < 0xa0)
			continue;
		text += bytes.toString('utf8', start, i);
		text += String.fromCharCode(0xd000 | (bytes[i + 1] & 63) << 6 | bytes[i + 2] & 63);
		i += 2;
		start = i + 1;
	}
	return text + bytes.toString('utf8', start);
}

// --- writing values

// How values that are not data are encoded:
const STRICT = 0;  // a SerializationError that names its path
const BRIDGED = 1; // the same, but functions and promises are lent to the host
const LENIENT = 2; // a text that describes it: for a log

class Encoder {
	constructor(out, mode, root, bridge) {
		this.out = out;
		this.mode = mode;
		this.root = root;
		this.bridge = bridge;
		this.met = new Map();
		this.count = 0; // ids assigned; more than the size of `met` where a pooled Buffer is copied
		this.path = [];
		this.causes = 0; // nesting depth of error causes
	}

	fail(what) {
		let path = this.root;
		for (const step of this.path) {
			path += stepText(step);
			if (path.length > PATH_MAX) {
				path += '…';
				break;
			}
		}
		throw new SerializationError(`${path}: ${what}`);
	}

	refuse(value) {
		if (this.mode === LENIENT)
			this.out.text(describe(value));
		else
			this.fail(cannotCross(value));
	}

	encode(value) {
		const out = this.out;
		switch (typeof value) {
		case 'string':
			return out.text(value);
		case 'number':
			return out.number(value);
		case 'boolean':
			return out.simple(value ? SIMPLE.TRUE : SIMPLE.FALSE);
		case 'undefined':
			return out.simple(SIMPLE.UNDEFINED);
		case 'bigint':
			return out.bigint(value);
		case 'symbol':
			return this.refuse(value);
		}
		return value === null ? out.simple(SIMPLE.NULL) : this.identity(value);
	}

	identity(value) {
		if (types.isProxy(value))
			return this.refuse(value);
		if (this.mode === BRIDGED && (typeof value === 'function' || types.isPromise(value)))
			return this.lend(value);
		const write = this.writerOf(value);
		if (!write)
			return this.refuse(value);
		if (this.path.length === DEPTH_MAX)
			return this.mode === LENIENT ? this.refuse(value) : this.fail('it is nested too deep');
		const known = this.met.get(value);
		if (known) {
			this.out.tag(TAG.REFERENCE);
			return this.out.number(known.number);
		}
		this.met.set(value, {number: this.count++, bytes: 0});
		write.call(this, value);
	}

	writerOf(value) {
		if (typeof value === 'function' || (this.mode !== LENIENT && isSubclass(value)))
			return null;
		if (Array.isArray(value))
			return this.array;
		if (ArrayBuffer.isView(value))
			return this.view;
		if (types.isArrayBuffer(value))
			return this.buffer;
		if (types.isMap(value))
			return this.map;
		if (types.isSet(value))
			return this.set;
		if (types.isDate(value))
			return this.date;
		if (isError(value))
			return this.error;
		if (types.isRegExp(value))
			return this.regexp;
		const prototype = Object.getPrototypeOf(value);
		return prototype === Object.prototype || prototype === null ? this.object : null;
	}

	item(key, value) {
		this.path.push(key);
		this.encode(value);
		this.path.pop();
	}

	// A getter may throw; a log records that.
	property(object, key) {
		if (this.mode !== LENIENT)
			return object[key];
		try {
			return object[key];
		} catch {
			return '[threw]';
		}
	}

	array(array) {
		const n = array.length;
		// Each item takes at least one byte: reject a sparse array of four billion items before the
		// walk.
		if (n > this.out.max - this.out.length)
			throw new TooLarge(`more than ${this.out.max} bytes`);
		this.out.head(4, n);
		for (let i = 0; i < n; i++) {
			const item = this.property(array, i);
			if (item === undefined && !Object.hasOwn(array, i))
				this.out.simple(SIMPLE.HOLE);
			else
				this.item(i, item);
		}
	}

	object(object) {
		const keys = Object.keys(object);
		this.out.head(5, keys.length);
		for (const key of keys) {
			this.out.text(key);
			this.item(key, this.property(object, key));
		}
	}

	map(map) {
		const entries = [];
		Map.prototype.forEach.call(map, (value, key) => entries.push([key, value]));
		this.out.tag(TAG.MAP);
		this.out.head(5, entries.length);
		entries.forEach(([key, value], i) => {
			this.item({list: '.keys()', index: i}, key);
			this.item({list: '.values()', index: i}, value);
		});
	}

	set(set) {
		const values = [];
		Set.prototype.forEach.call(set, value => values.push(value));
		this.out.tag(TAG.SET);
		this.out.head(4, values.length);
		values.forEach((value, i) => this.item({list: '.values()', index: i}, value));
	}

	buffer(buffer) {
		this.met.get(buffer).bytes = buffer.byteLength;
		this.out.blob(new Uint8Array(buffer));
	}

	view(view) {
		const name = types.isDataView(view) ? 'DataView' : viewName.call(view);
		const length = name === 'DataView' ? view.byteLength : view.length;
		const pooled = Buffer.isBuffer(view) || types.isSharedArrayBuffer(view.buffer);
		const written = this.met.get(view.buffer);
		if (!pooled && written && view.byteOffset + view.byteLength > written.bytes)
			this.fail('its buffer has grown since it was written');
		this.out.tag(TAG.VIEW);
		this.out.head(4, 4);
		this.out.number(VIEWS.indexOf(name));
		this.out.number(pooled ? 0 : view.byteOffset);
		this.out.number(length);
		if (!pooled)
			return this.item('buffer', view.buffer);
		// Copy the view's own bytes only, not the rest of Node's pool or of memory shared between
		// threads.
		this.count++;
		this.out.blob(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
	}

	date(date) {
		this.out.tag(TAG.DATE);
		this.out.float(Date.prototype.getTime.call(date));
	}

	error(error) {
		const parts = this.causes === CAUSES_MAX ? [] : [ownValue(error, 'cause'), ownValue(error, 'errors')];
		if (parts[1] && !Array.isArray(parts[1].value))
			parts[1] = null;
		const more = parts.some(part => part);
		this.out.tag(TAG.ERROR);
		this.out.head(4, more ? 5 : 3);
		this.out.text(textProperty(error, 'name') ?? '');
		this.out.text(textProperty(error, 'message') ?? '');
		const stack = textProperty(error, 'stack');
		this.out.textOrNull(stack === null ? null : cleanStack(stack));
		if (!more)
			return;
		// Values that cannot cross are described by a text, so that the error itself is not lost.
		const {mode} = this;
		this.mode = LENIENT;
		this.causes++;
		this.path.push('cause');
		for (const part of parts)
			part ? this.encode(part.value) : this.out.simple(SIMPLE.HOLE);
		this.path.pop();
		this.causes--;
		this.mode = mode;
	}

	regexp(regexp) {
		this.out.tag(TAG.REGEXP);
		this.out.head(4, 2);
		this.out.text(regexp.source);
		this.out.text(regexp.flags);
	}

	lend(value) {
		const is_function = typeof value === 'function';
		const {side, id} = this.bridge.lend(value);
		this.out.tag(is_function ? TAG.FUNCTION : TAG.PROMISE);
		this.out.head(4, is_function ? 3 : 2);
		this.out.number(side);
		this.out.number(id);
		if (is_function)
			this.out.simple(SIMPLE.NULL);
	}
}

function isError(value) {
	return types.isNativeError(value) || (typeof DOMException === 'function' && value instanceof DOMException);
}

// ".a", or "["a b"]" if the key is no identifier; "[0]", ".keys()[0]".
function stepText(step) {
	if (typeof step === 'number')
		return `[${step}]`;
	if (typeof step === 'object')
		return `${step.list}[${step.index}]`;
	if (step.length > KEY_MAX)
		return '.…';
	return /^[A-Za-z_$][\w$]*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}

// Length of the prototype chain of a direct instance of a built-in class; undefined for other values.
function prototypesOf(value) {
	if (Array.isArray(value) || types.isArrayBuffer(value) || types.isMap(value) || types.isSet(value) ||
		types.isDate(value) || types.isRegExp(value) || types.isDataView(value))
		return 2;
	// A Buffer crosses like the Uint8Array that it extends.
	return ArrayBuffer.isView(value) ? Buffer.isBuffer(value) ? 4 : 3 : undefined;
}

function isSubclass(value) {
	const most = prototypesOf(value);
	let count = 0;
	for (let at = value; most !== undefined && count <= most && (at = Object.getPrototypeOf(at)) !== null;)
		count++;
	return most !== undefined && count > most;
}

// The same wording as the SDKs use for inputs: docs/VALUES.md.
function cannotCross(value) {
	if (typeof value === 'symbol')
		return 'a symbol cannot cross';
	if (types.isProxy(value))
		return 'a proxy cannot cross';
	if (typeof value === 'function')
		return 'a function cannot cross here';
	if (types.isPromise(value))
		return 'a promise cannot cross here';
	try {
		const {name} = value.constructor;
		if (typeof name === 'string' && name !== '' && name !== 'Object')
			return `an instance of ${name.length > 100 ? '…' : name} cannot cross`;
	} catch {
		// No class, or an unreadable one.
	}
	return 'an object with a prototype of its own cannot cross';
}

// An own property that is not a getter, or null.
function ownValue(object, name) {
	const property = Object.getOwnPropertyDescriptor(object, name);
	return property && 'value' in property ? property : null;
}

// A string property, or null: the property may have any type, or throw.
function textProperty(object, name) {
	try {
		const value = object[name];
		return typeof value === 'string' ? value : null;
	} catch {
		return null;
	}
}

// A readable description of @value.
const MAX_DESCRIPTION = 65536;

function describe(value) {
	try {
		if (types.isProxy(value))
			return '[Proxy]';
		if (types.isPromise(value))
			return '[Promise]';
		// A text is shown whole or not at all: half of it may be half a secret, which masking would miss.
		const options = {depth: 2, breakLength: 120, maxArrayLength: 100, maxStringLength: Infinity};
		const text = inspect(value, options);
		if (text.length <= MAX_DESCRIPTION)
			return text;
		const outline = inspect(value, {...options, maxStringLength: 0});
		return outline.length <= MAX_DESCRIPTION ? outline : '[too long to be shown]';
	} catch {
		return '[cannot be shown]';
	}
}

// Append @value; error messages call it @root.
function encodeValue(out, value, mode, root, bridge) {
	new Encoder(out, mode, root, bridge).encode(value);
}

// --- reading values

class Reader {
	constructor(bytes, bridge) {
		this.bytes = bytes;
		this.at = 0;
		this.bridge = bridge;
		this.met = [];
		this.depth = 0;
	}

	malformed() {
		return new Error('glovebox: the host sent a malformed value');
	}

	// Major type and argument of the next item.
	head() {
		if (this.at >= this.bytes.length)
			throw this.malformed();
		const first = this.bytes[this.at++];
		const low = first & 31;
		this.major = first >> 5;
		this.low = low;
		if (low < 24) {
			this.argument = low;
		} else if (low === 24) {
			this.argument = this.bytes[this.at++];
		} else if (low === 25) {
			this.argument = this.bytes.readUInt16BE(this.at);
			this.at += 2;
		} else if (low === 26) {
			this.argument = this.bytes.readUInt32BE(this.at);
			this.at += 4;
		} else {
			this.argument = this.major === 7 ? 0 : Number(this.bytes.readBigUInt64BE(this.at));
			this.at += 8;
		}
	}

	expect(major) {
		this.head();
		if (this.major !== major)
			throw this.malformed();
		return this.argument;
	}

	take(n) {
		const start = this.at;
		if (n > this.bytes.length - start)
			throw this.malformed();
		this.at += n;
		return this.bytes.subarray(start, this.at);
	}

	number() {
		return this.expect(0);
	}

	takeText(n) {
		const start = this.at;
		if (n > this.bytes.length - start)
			throw this.malformed();
		this.at += n;
		return this.bytes.toString('utf8', start, this.at);
	}

	// Text, or null.
	text() {
		this.head();
		if (this.major === 7)
			return null;
		if (this.major === 6)
			return decodeWtf8(this.take(this.expect(2)));
		return this.takeText(this.argument);
	}

	// An object or array without an id, as in a JOB frame.
	root() {
		this.head();
		return this.major === 4 ? this.fillArray([], this.argument) : this.fillObject({}, this.argument);
	}

	// A value graph with its own ids.
	graph() {
		this.met = [];
		return this.value();
	}

	value() {
		if (++this.depth > 2 * DEPTH_MAX)
			throw new RangeError('value is nested too deep');
		this.head();
		const value = this.item(this.major, this.argument);
		this.depth--;
		return value;
	}

	item(major, n) {
		switch (major) {
		case 0:
			return n;
		case 1:
			return -1 - n;
		case 2:
			return this.keep(Uint8Array.from(this.take(n)).buffer);
		case 3:
			return this.takeText(n);
		case 4:
			return this.array(n);
		case 5:
			return this.object(n);
		case 6:
			return this.tagged(n);
		}
		return this.simple(n);
	}

	keep(value) {
		this.met.push(value);
		return value;
	}

	simple(n) {
		if (this.low === 27)
			return this.bytes.readDoubleBE(this.at - 8);
		switch (n) {
		case SIMPLE.FALSE:
			return false;
		case SIMPLE.TRUE:
			return true;
		case SIMPLE.NULL:
			return null;
		case SIMPLE.UNDEFINED:
			return undefined;
		}
		throw this.malformed();
	}

	array(n) {
		return this.fillArray(this.keep([]), n);
	}

	fillArray(array, n) {
		for (let i = 0; i < n; i++) {
			if (this.bytes[this.at] === (0xe0 | SIMPLE.HOLE))
				this.at++;
			else
				array[i] = this.value();
		}
		array.length = n;
		return array;
	}

	object(n) {
		return this.fillObject(this.keep({}), n);
	}

	fillObject(object, n) {
		for (let i = 0; i < n; i++) {
			const key = this.text(), value = this.value();
			if (key === '__proto__')
				Object.defineProperty(object, key, {value, writable: true, enumerable: true, configurable: true});
			else
				object[key] = value;
		}
		return object;
	}

	tagged(tag) {
		switch (tag) {
		case TAG.BIGINT:
		case TAG.NEGATIVE_BIGINT: {
			const n = BigInt('0x0' + this.take(this.expect(2)).toString('hex'));
			return tag === TAG.BIGINT ? n : -1n - n;
		}
		case TAG.REFERENCE:
			return this.met[this.number()];
		case TAG.WTF8:
			return decodeWtf8(this.take(this.expect(2)));
		case TAG.MAP:
			return this.map(this.expect(5));
		case TAG.SET:
			return this.set(this.expect(4));
		case TAG.DATE:
			this.head();
			return this.keep(new Date(this.simple(this.argument)));
		case TAG.VIEW:
			return this.view();
		case TAG.ERROR:
			return this.error();
		case TAG.REGEXP:
			return this.regexp();
		case TAG.FUNCTION:
		case TAG.PROMISE:
			return this.lent(tag === TAG.FUNCTION);
		}
		throw this.malformed();
	}

	map(n) {
		const map = this.keep(new Map());
		for (let i = 0; i < n; i++) {
			const key = this.value();
			map.set(key, this.value());
		}
		return map;
	}

	set(n) {
		const set = this.keep(new Set());
		for (let i = 0; i < n; i++)
			set.add(this.value());
		return set;
	}

	// The view's id precedes its buffer's id, but the view can only be created after its buffer.
	view() {
		const number = this.met.push(undefined) - 1;
		this.expect(4);
		const kind = VIEWS[this.number()], offset = this.number(), length = this.number();
		const buffer = this.value();
		const make = globalThis[kind];
		if (!make)
			throw new TypeError(`there is no ${kind} here`);
		return this.met[number] = new make(buffer, offset, length);
	}

	// Without a transmitted stack, the error has the stack of the call that it answers.
	error() {
		const number = this.met.push(undefined) - 1;
		const more = this.expect(4) === 5;
		const name = this.text(), message = this.text(), stack = this.text();
		const make = Object.hasOwn(ERRORS, name) ? ERRORS[name] : Error;
		const error = make === AggregateError ? new AggregateError([], message) : new make(message);
		if (make === Error)
			Object.defineProperty(error, 'name', {value: name, writable: true, configurable: true});
		if (stack !== null)
			Object.defineProperty(error, 'stack', {value: stack, writable: true, configurable: true});
		this.met[number] = error;
		for (const part of more ? ['cause', 'errors'] : []) {
			if (this.bytes[this.at] === (0xe0 | SIMPLE.HOLE))
				this.at++;
			else
				Object.defineProperty(error, part, {value: this.value(), writable: true, configurable: true});
		}
		return error;
	}

	regexp() {
		const number = this.met.push(undefined) - 1;
		this.expect(4);
		const source = this.text();
		return this.met[number] = new RegExp(source, this.text());
	}

	lent(is_function) {
		this.expect(4);
		const side = this.number(), id = this.number();
		const name = is_function ? this.text() : null;
		if (side === SIDE.SANDBOX)
			return this.bridge.own(id);
		return is_function ? this.bridge.hostFunction(id, name ?? '') : this.bridge.hostPromise(id);
	}
}
