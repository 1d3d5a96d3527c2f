// URLs as the WHATWG URL standard parses them. A record is {scheme, username, password, host, port, path, query,
// fragment}; an opaque path is a string, others are arrays; a host is its text, or null.

const SPECIAL = {__proto__: null, 'ftp': 21, 'file': null, 'http': 80, 'https': 443, 'ws': 80, 'wss': 443};
const isSpecial = (url) => url.scheme in SPECIAL;

const C0 = '', FRAGMENT = ' "<>`', QUERY = ' "#<>', SPECIAL_QUERY = `${QUERY}'`, PATH = `${QUERY}?^\`{}`;
const USERINFO = `${PATH}/:;=@[\\]|`, COMPONENT = `${USERINFO}$&+,%`, FORM = `${COMPONENT}!'()~`;

const encodeOne = (c) => {
	const code = c.codePointAt(0);
	return code < 128 ? `%${(code < 16 ? '0' : '') + code.toString(16).toUpperCase()}` : encodeURIComponent(c);
};
const encodeSet = (text, set) => {
	let encoded = '';
	for (const c of text)
		encoded += c < ' ' || c > '~' || set.includes(c) ? encodeOne(c) : c;
	return encoded;
};

const hexValue = (code) => {
	if (code >= 48 && code <= 57)
		return code - 48;
	code |= 32;
	return code >= 97 && code <= 102 ? code - 87 : -1;
};

const percentDecode = (bytes) => {
	if (!bytes.includes(37))
		return bytes;
	const output = new Uint8Array(bytes.length);
	let n = 0;
	for (let i = 0; i < bytes.length; i++) {
		const high = bytes[i] === 37 && i + 2 < bytes.length ? hexValue(bytes[i + 1]) : -1;
		const low = high < 0 ? -1 : hexValue(bytes[i + 2]);
		output[n++] = low < 0 ? bytes[i] : high * 16 + low;
		i += low < 0 ? 0 : 2;
	}
	return output.subarray(0, n);
};
const percentDecodeText = (text) => native.utf8Decode(percentDecode(native.utf8Encode(text)));

// --- hosts

// A part of an IPv4 address: a number, NaN if it is none.
const parseNumber = (text) => {
	if (text === '')
		return NaN;
	if (/^0x[0-9a-f]*$/i.test(text))
		return text.length === 2 ? 0 : parseInt(text, 16);
	if (/^0[0-7]*$/.test(text))
		return text === '0' ? 0 : parseInt(text, 8);
	return /^[1-9][0-9]*$/.test(text) ? Number(text) : NaN;
};

const endsInNumber = (host) => {
	const parts = host.split('.');
	if (parts.at(-1) === '') {
		if (parts.length === 1)
			return false;
		parts.pop();
	}
	const last = parts.at(-1);
	return /^[0-9]+$/.test(last) || !Number.isNaN(parseNumber(last));
};

const parseIPv4 = (host) => {
	const parts = host.split('.');
	if (parts.at(-1) === '' && parts.length > 1)
		parts.pop();
	const numbers = parts.map(parseNumber);
	if (parts.length > 4 || numbers.some(Number.isNaN) || numbers.slice(0, -1).some((n) => n > 255) ||
		numbers.at(-1) >= 256 ** (5 - numbers.length))
		return null;
	let address = numbers.at(-1);
	numbers.slice(0, -1).forEach((n, i) => (address += n * 256 ** (3 - i)));
	return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
};

// Four decimal numbers at the end of an IPv6 address: fills two pieces.
const parseMapped = (text, pieces, at) => {
	const parts = text.split('.');
	if (at > 6 || parts.length !== 4 || !parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) < 256))
		return false;
	pieces[at] = parts[0] * 256 + Number(parts[1]);
	pieces[at + 1] = parts[2] * 256 + Number(parts[3]);
	return true;
};

const readIPv6 = (text) => {
	const pieces = [0, 0, 0, 0, 0, 0, 0, 0];
	let at = 0, compress = -1, i = 0;
	if (text[0] === ':') {
		if (text[1] !== ':')
			return null;
		i = 2;
		compress = ++at;
	}
	while (i < text.length) {
		if (at === 8)
			return null;
		if (text[i] === ':') {
			if (compress >= 0)
				return null;
			i++;
			compress = ++at;
			continue;
		}
		const digits = /^[0-9a-fA-F]{0,4}/.exec(text.slice(i, i + 4))[0], after = text[i + digits.length];
		if (after === '.') {
			if (digits === '' || !parseMapped(text.slice(i), pieces, at))
				return null;
			at += 2;
			break;
		}
		i += digits.length;
		if (after === ':' ? ++i === text.length : after !== undefined)
			return null;
		pieces[at++] = parseInt(digits, 16);
	}
	if (compress < 0)
		return at === 8 ? pieces : null;
	const moved = pieces.splice(compress, at - compress);
	pieces.push(...moved);
	// What was taken out leaves zeros in its place.
	while (pieces.length < 8)
		pieces.splice(compress, 0, 0);
	return pieces;
};

const writeIPv6 = (pieces) => {
	let best = -1, most = 1;
	for (let i = 0; i < 8; i++) {
		let n = 0;
		while (i + n < 8 && pieces[i + n] === 0)
			n++;
		if (n > most) {
			best = i;
			most = n;
		}
	}
	let text = '';
	for (let i = 0; i < 8; i++) {
		if (i === best) {
			text += i === 0 ? '::' : ':';
			i += most - 1;
			continue;
		}
		text += pieces[i].toString(16) + (i < 7 ? ':' : '');
	}
	return `[${text}]`;
};

// eslint-disable-next-line no-control-regex
const FORBIDDEN_HOST = /[\0\t\n\r #/:<>?@[\\\]^|]/, FORBIDDEN_DOMAIN = /[\0-\x1f %\x7f#/:<>?@[\\\]^|]/;

const parseHost = (text, isOpaque) => {
	if (text[0] === '[') {
		const pieces = text.at(-1) === ']' ? readIPv6(text.slice(1, -1)) : null;
		return pieces && writeIPv6(pieces);
	}
	if (isOpaque)
		return FORBIDDEN_HOST.test(text) ? null : encodeSet(text, C0);
	const host = domainToASCII(percentDecodeText(text));
	if (host === null || host === '' || FORBIDDEN_DOMAIN.test(host))
		return null;
	return endsInNumber(host) ? parseIPv4(host) : host;
};

// --- the parser

const isAlpha = (c) => (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
const isDigit = (c) => c >= '0' && c <= '9';
const isDriveLetter = (text) => /^[a-zA-Z][:|]$/.test(text);
const isSingleDot = (segment) => /^(\.|%2e)$/i.test(segment);
const isDoubleDot = (segment) => /^(\.|%2e){2}$/i.test(segment);
const startsWithDrive = (input, at) =>
	isDriveLetter((input[at] ?? '') + (input[at + 1] ?? '')) && (input[at + 2] === undefined || '/\\?#'.includes(input[at + 2]));

const shorten = (url) => {
	if (url.scheme === 'file' && url.path.length === 1 && /^[a-zA-Z]:$/.test(url.path[0]))
		return;
	url.path.pop();
};

const FAILURE = Symbol('failure'), STOP = Symbol('stop');

class Parser {
	constructor(input, base, url, override) {
		this.input = input;
		this.base = base;
		this.url = url ?? {scheme: '', username: '', password: '', host: null, port: null, path: [], query: null, fragment: null};
		this.override = override;
		this.at = 0;
		this.buffer = '';
		this.atSign = this.inBrackets = this.passwordSeen = false;
	}

	// False: not a URL.
	run() {
		this.state = this.override ?? 'scheme start';
		for (;; this.at++) {
			const c = this.at < this.input.length ? this.input[this.at] : undefined;
			const how = states[this.state].call(this, c, this.url);
			if (how === FAILURE)
				return false;
			if (how === STOP || (c === undefined && this.at >= this.input.length))
				return true;
		}
	}

	rest(text) {
		return [...text].every((c, i) => this.input[this.at + 1 + i] === c);
	}

	to(state, back = false) {
		this.state = state;
		this.at -= back;
	}

	copyBase(...names) {
		for (const name of names)
			this.url[name] = name === 'path' && typeof this.base.path !== 'string' ? [...this.base.path] : this.base[name];
	}
}

const AUTHORITY = ['username', 'password', 'host', 'port'];
const isEndOfHost = (parser, c) => c === undefined || c === '/' || c === '?' || c === '#' || (isSpecial(parser.url) && c === '\\');

// Each is called with the code point at .at; undefined is the end.
const states = {
	'scheme start'(c) {
		if (c !== undefined && isAlpha(c)) {
			this.buffer += c.toLowerCase();
			this.to('scheme');
		} else if (!this.override) {
			this.to('no scheme', true);
		} else {
			return FAILURE;
		}
	},

	'scheme'(c, url) {
		if (c !== undefined && (isAlpha(c) || isDigit(c) || '+-.'.includes(c))) {
			this.buffer += c.toLowerCase();
			return;
		}
		if (c !== ':') {
			if (this.override)
				return FAILURE;
			this.buffer = '';
			this.to('no scheme');
			this.at = -1;
			return;
		}
		if (this.override) {
			if (isSpecial(url) !== this.buffer in SPECIAL ||
				((url.username || url.password || url.port !== null) && this.buffer === 'file') ||
				(url.scheme === 'file' && !url.host))
				return STOP;
			url.scheme = this.buffer;
			if (url.port === SPECIAL[url.scheme])
				url.port = null;
			return STOP;
		}
		url.scheme = this.buffer;
		this.buffer = '';
		if (url.scheme === 'file') {
			this.to('file');
		} else if (isSpecial(url)) {
			this.to(this.base?.scheme === url.scheme ? 'special relative or authority' : 'special authority slashes');
		} else if (this.rest('/')) {
			this.to('path or authority');
			this.at++;
		} else {
			url.path = '';
			this.to('opaque path');
		}
	},

	'no scheme'(c, url) {
		if (!this.base || (typeof this.base.path === 'string' && c !== '#'))
			return FAILURE;
		if (typeof this.base.path === 'string') {
			this.copyBase('scheme', 'path', 'query');
			url.fragment = '';
			this.to('fragment');
		} else {
			this.to(this.base.scheme === 'file' ? 'file' : 'relative', true);
		}
	},

	'special relative or authority'(c) {
		if (c === '/' && this.rest('/')) {
			this.to('special authority ignore slashes');
			this.at++;
		} else {
			this.to('relative', true);
		}
	},

	'path or authority'(c) {
		this.to(c === '/' ? 'authority' : 'path', c !== '/');
	},

	'relative'(c, url) {
		url.scheme = this.base.scheme;
		if (c === '/') {
			this.to('relative slash');
		} else if (isSpecial(url) && c === '\\') {
			this.to('relative slash');
		} else {
			this.copyBase(...AUTHORITY, 'path', 'query');
			if (c === '?') {
				url.query = '';
				this.to('query');
			} else if (c === '#') {
				url.fragment = '';
				this.to('fragment');
			} else if (c !== undefined) {
				url.query = null;
				shorten(url);
				this.to('path', true);
			}
		}
	},

	'relative slash'(c, url) {
		if (isSpecial(url) && (c === '/' || c === '\\')) {
			this.to('special authority ignore slashes');
		} else if (c === '/') {
			this.to('authority');
		} else {
			this.copyBase(...AUTHORITY);
			this.to('path', true);
		}
	},

	'special authority slashes'(c) {
		if (c === '/' && this.rest('/')) {
			this.to('special authority ignore slashes');
			this.at++;
		} else {
			this.to('special authority ignore slashes', true);
		}
	},

	'special authority ignore slashes'(c) {
		if (c !== '/' && c !== '\\')
			this.to('authority', true);
	},

	'authority'(c, url) {
		if (c === '@') {
			const text = (this.atSign ? '%40' : '') + this.buffer;
			this.atSign = true;
			for (const one of text) {
				if (one === ':' && !this.passwordSeen)
					this.passwordSeen = true;
				else
					url[this.passwordSeen ? 'password' : 'username'] += encodeSet(one, USERINFO);
			}
			this.buffer = '';
		} else if (isEndOfHost(this, c)) {
			if (this.atSign && this.buffer === '')
				return FAILURE;
			this.at -= [...this.buffer].length + 1;
			this.buffer = '';
			this.to('host');
		} else {
			this.buffer += c;
		}
	},

	'host'(c, url) {
		if (this.override && url.scheme === 'file') {
			this.to('file host', true);
			return;
		}
		if (c === ':' && !this.inBrackets) {
			if (this.buffer === '' || this.override === 'hostname')
				return FAILURE;
			const host = parseHost(this.buffer, !isSpecial(url));
			if (host === null)
				return FAILURE;
			url.host = host;
			this.buffer = '';
			this.to('port');
		} else if (isEndOfHost(this, c)) {
			this.at--;
			if (isSpecial(url) && this.buffer === '')
				return FAILURE;
			if (this.override && this.buffer === '' && (url.username || url.password || url.port !== null))
				return FAILURE;
			const host = parseHost(this.buffer, !isSpecial(url));
			if (host === null)
				return FAILURE;
			url.host = host;
			this.buffer = '';
			this.to('path start');
			if (this.override)
				return STOP;
		} else {
			this.inBrackets = c === '[' || (this.inBrackets && c !== ']');
			this.buffer += c;
		}
	},

	'port'(c, url) {
		if (c !== undefined && isDigit(c)) {
			this.buffer += c;
		} else if (isEndOfHost(this, c) || this.override) {
			if (this.buffer !== '') {
				const port = Number(this.buffer);
				if (port > 65535)
					return FAILURE;
				url.port = port === SPECIAL[url.scheme] ? null : port;
				this.buffer = '';
				if (this.override)
					return STOP;
			}
			if (this.override)
				return FAILURE;
			this.to('path start', true);
		} else {
			return FAILURE;
		}
	},

	'file'(c, url) {
		url.scheme = 'file';
		url.host = '';
		if (c === '/' || c === '\\') {
			this.to('file slash');
		} else if (this.base?.scheme === 'file') {
			this.copyBase('host', 'path', 'query');
			if (c === '?') {
				url.query = '';
				this.to('query');
			} else if (c === '#') {
				url.fragment = '';
				this.to('fragment');
			} else if (c !== undefined) {
				url.query = null;
				if (startsWithDrive(this.input, this.at))
					url.path = [];
				else
					shorten(url);
				this.to('path', true);
			}
		} else {
			this.to('path', true);
		}
	},

	'file slash'(c, url) {
		if (c === '/' || c === '\\') {
			this.to('file host');
			return;
		}
		if (this.base?.scheme === 'file') {
			url.host = this.base.host;
			if (!startsWithDrive(this.input, this.at) && /^[a-zA-Z]:$/.test(this.base.path[0] ?? ''))
				url.path.push(this.base.path[0]);
		}
		this.to('path', true);
	},

	'file host'(c, url) {
		if (c !== undefined && !'/\\?#'.includes(c)) {
			this.buffer += c;
			return;
		}
		this.at--;
		if (!this.override && isDriveLetter(this.buffer)) {
			this.to('path');
		} else if (this.buffer === '') {
			url.host = '';
			if (this.override)
				return STOP;
			this.to('path start');
		} else {
			const host = parseHost(this.buffer, !isSpecial(url));
			if (host === null)
				return FAILURE;
			url.host = host === 'localhost' ? '' : host;
			if (this.override)
				return STOP;
			this.buffer = '';
			this.to('path start');
		}
	},

	'path start'(c, url) {
		if (isSpecial(url)) {
			this.to('path', c !== '/' && c !== '\\');
		} else if (!this.override && c === '?') {
			url.query = '';
			this.to('query');
		} else if (!this.override && c === '#') {
			url.fragment = '';
			this.to('fragment');
		} else if (c !== undefined) {
			this.to('path', c !== '/');
		} else if (this.override && url.host === null) {
			url.path.push('');
		}
	},

	'path'(c, url) {
		const isSlash = c === '/' || (isSpecial(url) && c === '\\');
		if (c !== undefined && !isSlash && (this.override || (c !== '?' && c !== '#'))) {
			this.buffer += encodeSet(c, PATH);
			return;
		}
		if (isDoubleDot(this.buffer)) {
			shorten(url);
			if (!isSlash)
				url.path.push('');
		} else if (isSingleDot(this.buffer)) {
			if (!isSlash)
				url.path.push('');
		} else {
			if (url.scheme === 'file' && url.path.length === 0 && isDriveLetter(this.buffer))
				this.buffer = `${this.buffer[0]}:`;
			url.path.push(this.buffer);
		}
		this.buffer = '';
		if (c === '?') {
			url.query = '';
			this.to('query');
		} else if (c === '#') {
			url.fragment = '';
			this.to('fragment');
		}
	},

	'opaque path'(c, url) {
		if (c === '?' || c === '#') {
			url[c === '?' ? 'query' : 'fragment'] = '';
			this.to(c === '?' ? 'query' : 'fragment');
		} else if (c === ' ') {
			url.path += this.rest('?') || this.rest('#') ? '%20' : ' ';
		} else if (c !== undefined) {
			url.path += encodeSet(c, C0);
		}
	},

	'query'(c, url) {
		if (c === undefined || (!this.override && c === '#')) {
			url.query += encodeSet(this.buffer, isSpecial(url) ? SPECIAL_QUERY : QUERY);
			this.buffer = '';
			if (c === '#') {
				url.fragment = '';
				this.to('fragment');
			}
		} else {
			this.buffer += c;
		}
	},

	'fragment'(c, url) {
		if (c !== undefined)
			url.fragment += encodeSet(c, FRAGMENT);
	},
};

const cleaned = (text) => [...text.replace(/[\t\n\r]/g, '')];
// The record of a URL, or null.
const parseURL = (text, base = null) => {
	// eslint-disable-next-line no-control-regex
	const parser = new Parser(cleaned(text.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '')), base);
	return parser.run() ? parser.url : null;
};
const setPart = (url, text, state) => new Parser(cleaned(text), null, url, state).run();

const serializePath = (url) => (typeof url.path === 'string' ? url.path : url.path.map((segment) => `/${segment}`).join(''));
const serializeHost = (url) => (url.host ?? '') + (url.port === null ? '' : `:${url.port}`);
const serializeURL = (url, withoutFragment = false) => {
	let text = `${url.scheme}:`;
	if (url.host !== null) {
		const credentials = url.username + (url.password && `:${url.password}`);
		text += `//${credentials && `${credentials}@`}${serializeHost(url)}`;
	} else if (typeof url.path !== 'string' && url.path.length > 1 && url.path[0] === '') {
		text += '/.';
	}
	text += serializePath(url) + (url.query === null ? '' : `?${url.query}`);
	return withoutFragment || url.fragment === null ? text : `${text}#${url.fragment}`;
};
const originOf = (url) => {
	if (url.scheme === 'blob') {
		const inner = typeof url.path === 'string' ? parseURL(url.path) : null;
		return inner && (inner.scheme === 'http' || inner.scheme === 'https') ? originOf(inner) : 'null';
	}
	return isSpecial(url) && url.scheme !== 'file' ? `${url.scheme}://${serializeHost(url)}` : 'null';
};

// --- query strings

const parseForm = (bytes) => {
	const list = [];
	const text = (piece) => native.utf8Decode(percentDecode(piece.map((byte) => (byte === 43 ? 32 : byte))));
	for (let from = 0; from < bytes.length;) {
		const found = bytes.indexOf(38, from), to = found < 0 ? bytes.length : found;
		const piece = bytes.slice(from, to), equals = piece.indexOf(61);
		if (piece.length)
			list.push([text(equals < 0 ? piece : piece.slice(0, equals)), equals < 0 ? '' : text(piece.slice(equals + 1))]);
		from = to + 1;
	}
	return list;
};
const formEncode = (text) => encodeSet(text, FORM).replaceAll('%20', '+');
const serializeForm = (list) => list.map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`).join('&');

// Sequence<sequence<USVString>>, record<USVString, USVString> or a text.
const pairsOf = (init, what, convert = usv) => {
	if (!isObject(init))
		return null;
	const method = init[Symbol.iterator];
	if (method !== undefined && method !== null) {
		const list = [];
		for (const pair of {[Symbol.iterator]: () => method.call(init)}) {
			if (!isObject(pair) || typeof pair[Symbol.iterator] !== 'function')
				throw new TypeError(`${what}: each pair must be a sequence`);
			const both = [...pair];
			if (both.length !== 2)
				throw new TypeError(`${what}: each pair must have two elements`);
			list.push(both.map(convert));
		}
		return list;
	}
	const list = [];
	for (const key of Reflect.ownKeys(init))
		if (Reflect.getOwnPropertyDescriptor(init, key)?.enumerable) {
			if (typeof key === 'symbol')
				throw new TypeError(`${what}: a symbol cannot be a name`);
			const name = convert(key);
			list.push([name, convert(init[key])]);
		}
	return list;
};

class URLSearchParams {
	#list = [];
	#url = null;

	constructor(init = '') {
		if (init === INTERNAL) {
			this.#list = arguments[1];
			this.#url = arguments[2];
			return;
		}
		const pairs = pairsOf(init, 'URLSearchParams');
		if (pairs) {
			const names = new Map();
			for (const [name, value] of pairs) {
				const entry = [usv(name), usv(value)];
				// Names of a record that become equal keep the place of the first and the value of the last.
				if (typeof init[Symbol.iterator] !== 'function' && names.has(entry[0])) {
					names.get(entry[0])[1] = entry[1];
					continue;
				}
				names.set(entry[0], entry);
				this.#list.push(entry);
			}
		} else {
			const text = usv(init);
			this.#list = parseForm(native.utf8Encode(text[0] === '?' ? text.slice(1) : text));
		}
	}

	static list(params) {
		return params.#list;
	}
	static replace(params, list) {
		params.#list = list;
	}

	#update() {
		if (!this.#url)
			return;
		const text = serializeForm(this.#list);
		setQuery(this.#url, text === '' ? null : text);
	}

	get size() {
		return this.#list.length;
	}
	append(name, value) {
		needArguments('URLSearchParams.append', arguments.length, 2);
		this.#list.push([usv(name), usv(value)]);
		this.#update();
	}
	delete(name, value) {
		needArguments('URLSearchParams.delete', arguments.length, 1);
		name = usv(name);
		value = value === undefined ? undefined : usv(value);
		this.#list = this.#list.filter((entry) => entry[0] !== name || (value !== undefined && entry[1] !== value));
		this.#update();
	}
	get(name) {
		needArguments('URLSearchParams.get', arguments.length, 1);
		name = usv(name);
		return this.#list.find((entry) => entry[0] === name)?.[1] ?? null;
	}
	getAll(name) {
		needArguments('URLSearchParams.getAll', arguments.length, 1);
		name = usv(name);
		return this.#list.filter((entry) => entry[0] === name).map((entry) => entry[1]);
	}
	has(name, value) {
		needArguments('URLSearchParams.has', arguments.length, 1);
		name = usv(name);
		value = value === undefined ? undefined : usv(value);
		return this.#list.some((entry) => entry[0] === name && (value === undefined || entry[1] === value));
	}
	set(name, value) {
		needArguments('URLSearchParams.set', arguments.length, 2);
		name = usv(name);
		value = usv(value);
		const first = this.#list.find((entry) => entry[0] === name);
		if (first)
			first[1] = value;
		else
			this.#list.push([name, value]);
		this.#list = this.#list.filter((entry) => entry === first || entry[0] !== name || !first);
		this.#update();
	}
	sort() {
		this.#list.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
		this.#update();
	}
	toString() {
		return serializeForm(this.#list);
	}
}
const searchList = URLSearchParams.list, replaceSearch = URLSearchParams.replace;
delete URLSearchParams.list;
delete URLSearchParams.replace;
makeIterable(URLSearchParams, 'URLSearchParams Iterator', (params) => searchList(params));

class URL {
	#url;
	#search;

	constructor(url, base = undefined) {
		if (url === INTERNAL) {
			this.#url = base;
		} else {
			needArguments('URL', arguments.length, 1);
			this.#url = parseWithBase(usv(url), base);
			if (!this.#url)
				throw new TypeError(`'${usv(url).slice(0, 100)}' is not a valid URL`);
		}
		this.#search = new URLSearchParams(INTERNAL, parseForm(native.utf8Encode(this.#url.query ?? '')), this);
	}

	static canParse(url, base = undefined) {
		needArguments('URL.canParse', arguments.length, 1);
		return parseWithBase(usv(url), base) !== null;
	}
	static parse(url, base = undefined) {
		needArguments('URL.parse', arguments.length, 1);
		const record = parseWithBase(usv(url), base);
		return record && new URL(INTERNAL, record);
	}
	static setQuery(target, query) {
		target.#url.query = query;
	}
	static record(target) {
		return target.#url;
	}

	#refresh(query) {
		replaceSearch(this.#search, parseForm(native.utf8Encode(query)));
	}
	get #cannotHaveCredentials() {
		return !this.#url.host || this.#url.scheme === 'file';
	}

	get href() {
		return serializeURL(this.#url);
	}
	set href(value) {
		const record = parseURL(usv(value));
		if (!record)
			throw new TypeError(`'${usv(value).slice(0, 100)}' is not a valid URL`);
		this.#url = record;
		this.#refresh(record.query ?? '');
	}
	get origin() {
		return originOf(this.#url);
	}
	get protocol() {
		return `${this.#url.scheme}:`;
	}
	set protocol(value) {
		setPart(this.#url, `${usv(value)}:`, 'scheme start');
	}
	get username() {
		return this.#url.username;
	}
	set username(value) {
		if (!this.#cannotHaveCredentials)
			this.#url.username = encodeSet(usv(value), USERINFO);
	}
	get password() {
		return this.#url.password;
	}
	set password(value) {
		if (!this.#cannotHaveCredentials)
			this.#url.password = encodeSet(usv(value), USERINFO);
	}
	get host() {
		return serializeHost(this.#url);
	}
	set host(value) {
		this.#setHost(usv(value), 'host');
	}
	get hostname() {
		return this.#url.host ?? '';
	}
	set hostname(value) {
		this.#setHost(usv(value), 'hostname');
	}
	#setHost(value, state) {
		if (typeof this.#url.path !== 'string')
			setPart(this.#url, value, state);
	}
	get port() {
		return this.#url.port === null ? '' : `${this.#url.port}`;
	}
	set port(value) {
		value = usv(value);
		if (this.#cannotHaveCredentials)
			return;
		if (value === '')
			this.#url.port = null;
		else
			setPart(this.#url, value, 'port');
	}
	get pathname() {
		return serializePath(this.#url);
	}
	set pathname(value) {
		value = usv(value);
		if (typeof this.#url.path === 'string')
			return;
		this.#url.path = [];
		setPart(this.#url, value, 'path start');
	}
	get search() {
		return this.#url.query ? `?${this.#url.query}` : '';
	}
	set search(value) {
		value = usv(value);
		if (value === '') {
			this.#url.query = null;
			this.#refresh('');
			return;
		}
		const query = value[0] === '?' ? value.slice(1) : value;
		this.#url.query = '';
		setPart(this.#url, query, 'query');
		this.#refresh(this.#url.query);
	}
	get searchParams() {
		return this.#search;
	}
	get hash() {
		return this.#url.fragment ? `#${this.#url.fragment}` : '';
	}
	set hash(value) {
		value = usv(value);
		if (value === '') {
			this.#url.fragment = null;
			return;
		}
		this.#url.fragment = '';
		setPart(this.#url, value[0] === '#' ? value.slice(1) : value, 'fragment');
	}
	toString() {
		return this.href;
	}
	toJSON() {
		return this.href;
	}
}
states.hostname = states.host;
const recordOf = URL.record;
const setQuery = URL.setQuery;
delete URL.record;
delete URL.setQuery;

const parseWithBase = (text, base) => {
	if (base === undefined)
		return parseURL(text);
	const parsed = parseURL(usv(base));
	return parsed && parseURL(text, parsed);
};
publish('URLSearchParams', URLSearchParams);
publish('URL', URL);
