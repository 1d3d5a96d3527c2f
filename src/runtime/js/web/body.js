// Blob, File, FormData; bodies of requests and responses.

// --- MIME types

const HTTP_TOKEN = /^[-!#$%&'*+.^_`|~0-9A-Za-z]+$/, HTTP_QUOTED = /^[\t\x20-\x7e\x80-\xff]*$/;
const trimHTTP = (text) => text.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');

const parseQuoted = (text, at) => {
	let value = '';
	for (at++; at < text.length && text[at] !== '"'; at++)
		value += text[at] === '\\' && at + 1 < text.length ? text[++at] : text[at];
	return [value, at + 1];
};

const parseMime = (text) => {
	text = trimHTTP(text);
	const [, type, subtype] = /^([^/]*)\/([^;]*)/.exec(text) ?? [];
	if (type === undefined || !HTTP_TOKEN.test(type) || !HTTP_TOKEN.test(subtype.trimEnd()))
		return null;
	const mime = {essence: `${type}/${subtype.trimEnd()}`.toLowerCase(), parameters: new Map()};
	for (let at = type.length + 1 + subtype.length; at < text.length;) {
		const from = at + 1 + /^[\t\n\r ]*/.exec(text.slice(at + 1))[0].length;
		const name = /^[^;=]*/.exec(text.slice(from))[0];
		at = from + name.length;
		if (text[at] !== '=')
			continue;
		let value;
		if (text[at + 1] === '"') {
			[value, at] = parseQuoted(text, at + 1);
			at += /^[^;]*/.exec(text.slice(at))[0].length;
		} else {
			value = /^[^;]*/.exec(text.slice(at + 1))[0];
			at += 1 + value.length;
			value = value.replace(/[\t\n\r ]+$/, '');
			if (value === '')
				continue;
		}
		if (HTTP_TOKEN.test(name) && HTTP_QUOTED.test(value) && !mime.parameters.has(name.toLowerCase()))
			mime.parameters.set(name.toLowerCase(), value);
	}
	return mime;
};

const serializeMime = ({essence, parameters}) =>
	essence + [...parameters].map(([name, value]) =>
		`;${name}=${HTTP_TOKEN.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`}`).join('');

// Values of a header, apart at commas outside of quotes.
const splitHeader = (text) => {
	const values = [];
	let value = '';
	for (let at = 0; at < text.length;) {
		if (text[at] === '"') {
			const [, end] = parseQuoted(text, at);
			value += text.slice(at, end);
			at = end;
		} else if (text[at] === ',') {
			values.push(value.replace(/^[\t ]+|[\t ]+$/g, ''));
			value = '';
			at++;
		} else {
			value += text[at++];
		}
	}
	values.push(value.replace(/^[\t ]+|[\t ]+$/g, ''));
	return values;
};

// "Extract a MIME type" of Fetch.
const mimeOfHeader = (text) => {
	let charset, essence, mime = null;
	for (const value of text === null ? [] : splitHeader(text)) {
		const one = parseMime(value);
		if (!one || one.essence === '*/*')
			continue;
		mime = one;
		if (mime.essence !== essence) {
			charset = mime.parameters.get('charset');
			essence = mime.essence;
		} else if (!mime.parameters.has('charset') && charset !== undefined) {
			mime.parameters.set('charset', charset);
		}
	}
	return mime;
};

// --- Blob and File

class Blob {
	#bytes;
	#type = '';
	constructor(parts = undefined, options = {}) {
		if (parts === INTERNAL) {
			[this.#bytes, this.#type] = options;
			return;
		}
		if (parts !== undefined && (!isObject(parts) || typeof parts[Symbol.iterator] !== 'function'))
			throw new TypeError('the parts of a Blob are a sequence');
		if (options !== null && options !== undefined && !isObject(options))
			throw new TypeError('the options of a Blob are an object');
		const {endings = 'transparent', type = ''} = options ?? {};
		if (!['transparent', 'native'].includes(`${endings}`))
			throw new TypeError(`endings of a Blob cannot be '${endings}'`);
		const pieces = [];
		for (const part of parts ?? []) {
			if (isBlob(part))
				pieces.push(bytesOfBlob(part));
			else if (isBuffer(part))
				pieces.push(bytesOf(part).slice());
			else
				pieces.push(native.utf8Encode(endings === 'native' ? usv(part).replace(/\r\n?/g, '\n') : usv(part)));
		}
		this.#bytes = joinBytes(pieces);
		const text = `${type}`;
		this.#type = /^[\x20-\x7e]*$/.test(text) ? text.toLowerCase() : '';
	}
	static has(value) {
		return #bytes in value;
	}
	static bytes(blob) {
		return blob.#bytes;
	}
	get size() {
		return this.#bytes.length;
	}
	get type() {
		return this.#type;
	}
	slice(start = 0, end = this.#bytes.length, type = '') {
		const text = `${type}`;
		return new Blob(INTERNAL, [this.#bytes.slice(start, end), /^[\x20-\x7e]*$/.test(text) ? text.toLowerCase() : '']);
	}
	async arrayBuffer() {
		return this.#bytes.slice().buffer;
	}
	async bytes() {
		return this.#bytes.slice();
	}
	async text() {
		return decodeText(this.#bytes);
	}
	stream() {
		return streamOfBytes(this.#bytes);
	}
}
const bytesOfBlob = Blob.bytes, brandOfBlob = Blob.has;
const isBlob = (value) => typeof value === 'object' && value !== null && brandOfBlob(value);
delete Blob.bytes;
delete Blob.has;
publish('Blob', Blob);

const PIECE = 65536;
const streamOfBytes = (bytes) => {
	let at = 0;
	return makeStream({
		pull(core) {
			if (at < bytes.length)
				enqueueChunk(core, bytes.slice(at, (at += PIECE)));
			if (at >= bytes.length)
				closeCore(core);
		},
		highWaterMark: 0,
	});
};

class File extends Blob {
	#name;
	#lastModified;
	constructor(parts, name, options = {}) {
		needArguments('File', arguments.length, 2);
		super(parts, options);
		this.#name = usv(name);
		this.#lastModified = options?.lastModified === undefined ? Date.now() : Math.trunc(Number(options.lastModified)) || 0;
	}
	get name() {
		return this.#name;
	}
	get lastModified() {
		return this.#lastModified;
	}
}
publish('File', File);

// --- FormData

class FormData {
	#list = [];
	constructor(form = undefined) {
		if (form !== undefined)
			throw new TypeError('a FormData is created without arguments: there are no forms here');
	}
	static list(data) {
		return data.#list;
	}
	static #entry(name, value, filename, given) {
		if (!isBlob(value)) {
			if (given)
				throw new TypeError('only a Blob has a file name');
			return [usv(name), usv(value)];
		}
		if (!(value instanceof File) || given) {
			const file = given ? usv(filename) : 'blob';
			value = new File([value], file, {type: value.type, lastModified: value.lastModified});
		}
		return [usv(name), value];
	}
	append(name, value, filename) {
		needArguments('FormData.append', arguments.length, 2);
		this.#list.push(FormData.#entry(name, value, filename, arguments.length > 2 && filename !== undefined));
	}
	set(name, value, filename) {
		needArguments('FormData.set', arguments.length, 2);
		const entry = FormData.#entry(name, value, filename, arguments.length > 2 && filename !== undefined);
		const at = this.#list.findIndex((one) => one[0] === entry[0]);
		if (at < 0)
			this.#list.push(entry);
		else
			this.#list = [...this.#list.slice(0, at), entry, ...this.#list.slice(at + 1).filter((one) => one[0] !== entry[0])];
	}
	delete(name) {
		needArguments('FormData.delete', arguments.length, 1);
		name = usv(name);
		this.#list = this.#list.filter((entry) => entry[0] !== name);
	}
	get(name) {
		needArguments('FormData.get', arguments.length, 1);
		name = usv(name);
		return this.#list.find((entry) => entry[0] === name)?.[1] ?? null;
	}
	getAll(name) {
		needArguments('FormData.getAll', arguments.length, 1);
		name = usv(name);
		return this.#list.filter((entry) => entry[0] === name).map((entry) => entry[1]);
	}
	has(name) {
		needArguments('FormData.has', arguments.length, 1);
		name = usv(name);
		return this.#list.some((entry) => entry[0] === name);
	}
}
const formList = FormData.list;
delete FormData.list;
makeIterable(FormData, 'FormData Iterator', (data) => formList(data));
publish('FormData', FormData);

const escapeName = (text) => text.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
const normalizeLines = (text) => text.replace(/\r\n?|\n/g, '\r\n');

const encodeMultipart = (data) => {
	const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
	let boundary = '----GloveboxFormBoundary';
	for (let i = 0; i < 24; i++)
		boundary += letters[Math.floor(Math.random() * letters.length)];
	const pieces = [], put = (text) => pieces.push(native.utf8Encode(text));
	for (const [name, value] of formList(data)) {
		put(`--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(normalizeLines(name))}"`);
		if (typeof value === 'string') {
			put(`\r\n\r\n${normalizeLines(value)}\r\n`);
		} else {
			put(`; filename="${escapeName(value.name)}"\r\nContent-Type: ${value.type || 'application/octet-stream'}\r\n\r\n`);
			pieces.push(bytesOfBlob(value));
			put('\r\n');
		}
	}
	put(`--${boundary}--\r\n`);
	return {bytes: joinBytes(pieces), boundary};
};

const indexOfBytes = (bytes, what, from) => {
	for (let at = bytes.indexOf(what[0], from); at >= 0; at = bytes.indexOf(what[0], at + 1)) {
		let i = 1;
		while (i < what.length && bytes[at + i] === what[i])
			i++;
		if (i === what.length)
			return at;
	}
	return -1;
};

const parsePartHead = (text) => {
	const head = {};
	for (const line of text.split('\r\n')) {
		const colon = line.indexOf(':');
		if (colon < 1)
			throw new TypeError('a part of the form has a malformed header');
		const name = line.slice(0, colon).toLowerCase(), value = line.slice(colon + 1).replace(/^[\t ]+|[\t ]+$/g, '');
		if (name === 'content-type') {
			head.type = value;
		} else if (name === 'content-disposition') {
			const field = /^form-data *; *name="([^"\r\n]*)"(?:; *filename="([^"\r\n]*)")?/i.exec(value);
			if (!field)
				throw new TypeError('a part of the form has no name');
			const unescape = (one) => one?.replace(/%0a/gi, '\n').replace(/%0d/gi, '\r').replace(/%22/g, '"');
			head.name = unescape(field[1]);
			head.filename = unescape(field[2]);
		}
	}
	if (head.name === undefined)
		throw new TypeError('a part of the form has no name');
	return head;
};

const parseMultipart = (bytes, boundary) => {
	const form = new FormData(), mark = native.utf8Encode(`--${boundary}`), between = native.utf8Encode(`\r\n--${boundary}`);
	const headEnd = native.utf8Encode('\r\n\r\n'), bad = () => new TypeError('the body is not a form with this boundary');
	let at = bytes[0] === 13 && bytes[1] === 10 ? 2 : 0;
	if (indexOfBytes(bytes.subarray(at, at + mark.length), mark, 0) !== 0)
		throw bad();
	at += mark.length;
	for (;;) {
		if (bytes[at] === 45 && bytes[at + 1] === 45)
			return form;
		if (bytes[at] !== 13 || bytes[at + 1] !== 10)
			throw bad();
		const bodyAt = indexOfBytes(bytes, headEnd, at), end = bodyAt < 0 ? -1 : indexOfBytes(bytes, between, bodyAt + 2);
		if (end < 0)
			throw bad();
		const head = parsePartHead(native.utf8Decode(bytes.subarray(at + 2, bodyAt)));
		const value = bytes.slice(Math.min(bodyAt + 4, end), end);
		if (head.filename === undefined)
			form.append(head.name, decodeText(value));
		else
			form.append(head.name, new File([value], head.filename, {type: head.type ?? 'text/plain'}));
		at = end + between.length;
	}
};

// --- bodies

// A body is {bytes}, {incoming} of a response, or {stream}; .stream is made when it is asked for.
const bodyStream = (body) => {
	if (!body.stream) {
		body.stream = body.incoming ? streamOfIncoming(body.incoming) : streamOfBytes(body.bytes);
		const core = coreOf(body.stream);
		core.disturbed = Boolean(body.used);
		if (body.used) {
			closeCore(core);
			lockCore(core);
		}
	}
	return body.stream;
};
const isUsed = (body) => (body.stream ? coreOf(body.stream).disturbed : Boolean(body.used));
const isUnusable = (body) => isUsed(body) || (body.stream && coreOf(body.stream).reader !== null);

const extractBody = (object, keepalive = false) => {
	if (isStream(object)) {
		if (keepalive)
			throw new TypeError('a request with keepalive has no stream as its body');
		if (isUnusable({stream: object}))
			throw new TypeError('the stream is locked, or was read already');
		return {body: {stream: object}, type: null};
	}
	if (isBlob(object))
		return {body: {bytes: bytesOfBlob(object)}, type: object.type || null};
	if (isBuffer(object))
		return {body: {bytes: bytesOf(object).slice()}, type: null};
	if (object instanceof FormData) {
		const {bytes, boundary} = encodeMultipart(object);
		return {body: {bytes}, type: `multipart/form-data; boundary=${boundary}`};
	}
	if (object instanceof URLSearchParams)
		return {body: {bytes: native.utf8Encode(serializeForm(searchList(object)))}, type: 'application/x-www-form-urlencoded;charset=UTF-8'};
	return {body: {bytes: native.utf8Encode(usv(object))}, type: 'text/plain;charset=UTF-8'};
};

const cloneBody = (body) => {
	if (body.bytes && !body.stream)
		return {bytes: body.bytes};
	const [one, other] = teeCore(coreOf(bodyStream(body)), true).map((core) => new ReadableStream(INTERNAL, core));
	body.stream = one;
	body.incoming = body.bytes = undefined;
	return {stream: other};
};

// A promise that is resolved with an object asks it for 'then', which code can define for all objects.
const boxed = (bytes) => ({__proto__: null, bytes});
const readAll = async (core) => {
	const pieces = [];
	for (;;) {
		const {value, done} = await readInside(core);
		if (done)
			return boxed(joinBytes(pieces));
		if (Object.prototype.toString.call(value) !== '[object Uint8Array]')
			throw new TypeError('a body is a stream of Uint8Array');
		addPiece(pieces, value);
	}
};

const consume = async (body) => {
	if (!body)
		return boxed(new Uint8Array(0));
	if (!body.stream) {
		body.used = true;
		return boxed(body.bytes ?? await allOfIncoming(body.incoming));
	}
	const core = coreOf(body.stream);
	lockCore(core);
	return readAll(core);
};

const streamOfText = (from) => {
	const decoder = new TextDecoder();
	lockCore(from);
	from.disturbed = true;
	return makeStream({
		async pull(core) {
			for (let text = ''; text === '';) {
				const {value, done} = await readInside(from);
				if (!done && Object.prototype.toString.call(value) !== '[object Uint8Array]')
					throw new TypeError('a body is a stream of Uint8Array');
				text = decoder.decode(value, {stream: !done});
				if (text !== '')
					enqueueChunk(core, text);
				if (done) {
					closeCore(core);
					return;
				}
			}
		},
		cancel: (reason) => cancelCore(from, reason),
		highWaterMark: 0,
	});
};

// Give @constructor the methods of a body. @stateOf returns {body, headers} of an object of it.
const addBody = (constructor, stateOf) => {
	const read = (object, convert) => {
		// A brand check that fails rejects, as everything of a method that returns a promise.
		try {
			const state = stateOf(object), {body} = state, failed = body?.incoming?.request.error;
			if (body && isUnusable(body) && !(failed && !body.stream))
				throw new TypeError('the body was read already, or is locked');
			if (failed && body.incoming.request.chunks.length === 0) {
				body.used = true;
				throw failed;
			}
			return consume(body).then(({bytes}) => convert(bytes, state));
		} catch (error) {
			return Promise.reject(error);
		}
	};
	const type = (state) => mimeOfHeader(headerValue(state.headers, 'content-type'));
	const methods = {
		arrayBuffer() {
			return read(this, (bytes) => bytes.slice().buffer);
		},
		blob() {
			return read(this, (bytes, state) => {
				const mime = type(state);
				return new Blob(INTERNAL, [bytes.slice(), mime ? serializeMime(mime) : '']);
			});
		},
		bytes() {
			return read(this, (bytes) => bytes.slice());
		},
		formData() {
			return read(this, (bytes, state) => {
				const mime = type(state);
				if (mime?.essence === 'multipart/form-data' && mime.parameters.has('boundary'))
					return parseMultipart(bytes, mime.parameters.get('boundary'));
				if (mime?.essence !== 'application/x-www-form-urlencoded')
					throw new TypeError('the type of the body is not one of a form');
				const form = new FormData();
				for (const [name, value] of parseForm(bytes))
					form.append(name, value);
				return form;
			});
		},
		json() {
			return read(this, (bytes) => JSON.parse(decodeText(bytes)));
		},
		text() {
			return read(this, decodeText);
		},
		textStream() {
			const {body} = stateOf(this);
			if (body && isUnusable(body))
				throw new TypeError('the body was read already, or is locked');
			return body ? streamOfText(coreOf(bodyStream(body))) : makeStream({start: closeCore});
		},
	};
	for (const [name, value] of Object.entries(methods))
		Object.defineProperty(constructor.prototype, name, {value, writable: true, enumerable: true, configurable: true});
	const getters = {
		body: (state) => (state.body ? bodyStream(state.body) : null),
		bodyUsed: (state) => Boolean(state.body && isUsed(state.body)),
	};
	for (const [name, get] of Object.entries(getters))
		Object.defineProperty(constructor.prototype, name, {
			get() {
				return get(stateOf(this));
			},
			enumerable: true, configurable: true,
		});
};
