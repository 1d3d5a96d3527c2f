// TextEncoder and TextDecoder, for UTF-8, UTF-16 and ISO-8859-1 (windows-1252).

// The bytes of a BufferSource: a view of them, not a copy.
const bytesOf = (source, what) => {
	if ((ArrayBuffer.isView(source) ? source.buffer : source)?.detached)
		return new Uint8Array(0);
	if (ArrayBuffer.isView(source))
		return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
	if (source instanceof ArrayBuffer || Object.prototype.toString.call(source) === '[object ArrayBuffer]')
		return new Uint8Array(source);
	throw new TypeError(`${what} needs an ArrayBuffer or a view of one`);
};
const isBuffer = (value) => ArrayBuffer.isView(value) || value instanceof ArrayBuffer;

const joinBytes = (pieces) => {
	if (pieces.length === 1)
		return pieces[0];
	const all = new Uint8Array(pieces.reduce((n, piece) => n + piece.length, 0));
	pieces.reduce((at, piece) => (all.set(piece, at), at + piece.length), 0);
	return all;
};

// Add @piece to a list of pieces. Small ones are joined: a server can send many of one byte each.
const SMALL = 256, SMALL_MAX = 64;
const addPiece = (list, piece) => {
	list.push(piece);
	list.small = piece.length < SMALL ? (list.small ?? 0) + 1 : 0;
	if (list.small >= SMALL_MAX) {
		list.push(joinBytes(list.splice(-SMALL_MAX)));
		list.small = 0;
	}
};

const LABELS = new Map(Object.entries({
	'utf-8': 'unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8',
	'utf-16le': 'csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le',
	'utf-16be': 'unicodefffe utf-16be',
	'windows-1252': 'ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 ' +
		'iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252',
}).flatMap(([name, labels]) => labels.split(' ').map((label) => [label, name])));

const WINDOWS = '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f\u0090\u2018' +
	'\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

const decodeSingle = (bytes) => {
	let text = '';
	for (const byte of bytes)
		text += byte >= 0x80 && byte < 0xa0 ? WINDOWS[byte - 0x80] : String.fromCharCode(byte);
	return text;
};

const MALFORMED = 'the bytes are not of this encoding';

class TextEncoder {
	get encoding() {
		return this.#brand;
	}
	encode(text = '') {
		void this.#brand;
		return native.utf8Encode(usv(text));
	}
	encodeInto(source, destination) {
		void this.#brand;
		needArguments('TextEncoder.encodeInto', arguments.length, 2);
		source = usv(source);
		if (Object.prototype.toString.call(destination) !== '[object Uint8Array]')
			throw new TypeError('TextEncoder.encodeInto needs a Uint8Array');
		let read = 0, written = 0;
		for (const c of source) {
			const code = c.codePointAt(0), n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
			if (written + n > destination.length)
				break;
			for (let i = 0; i < n; i++) {
				const lead = n === 1 ? 0 : (0xf00 >> n) & 0xff;
				destination[written++] = i === 0 ? lead | (code >> (6 * (n - 1))) : 0x80 | ((code >> (6 * (n - 1 - i))) & 0x3f);
			}
			read += c.length;
		}
		return {read, written};
	}
	#brand = 'utf-8';
}

class TextDecoder {
	#encoding;
	#fatal;
	#ignoreBOM;
	#pending = new Uint8Array(0);
	#bomSeen = false;
	#streaming = false;

	constructor(label = 'utf-8', options = {}) {
		const encoding = LABELS.get(`${label}`.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '').toLowerCase());
		if (!encoding)
			throw new RangeError(`TextDecoder knows no encoding '${`${label}`.slice(0, 40)}': UTF-8, UTF-16 and windows-1252`);
		if (options !== null && options !== undefined && !isObject(options))
			throw new TypeError('the options of a TextDecoder are an object');
		this.#encoding = encoding;
		this.#fatal = Boolean(options?.fatal);
		this.#ignoreBOM = Boolean(options?.ignoreBOM);
	}
	get encoding() {
		return this.#encoding;
	}
	get fatal() {
		return this.#fatal;
	}
	get ignoreBOM() {
		return this.#ignoreBOM;
	}

	// How many bytes at the end wait for more.
	#tail(bytes) {
		if (this.#encoding === 'utf-8')
			return native.utf8Tail(bytes);
		if (this.#encoding === 'windows-1252')
			return 0;
		const odd = bytes.length % 2, last = bytes.length - odd;
		const high = last >= 2 ? bytes[last - (this.#encoding === 'utf-16le' ? 1 : 2)] : 0;
		return odd + (high >= 0xd8 && high <= 0xdb ? 2 : 0);
	}

	#text(bytes) {
		if (this.#encoding === 'windows-1252')
			return decodeSingle(bytes);
		if (this.#encoding === 'utf-8')
			return native.utf8Decode(bytes, this.#fatal);
		const swap = this.#encoding === 'utf-16be';
		let text = '';
		for (let i = 0; i + 1 < bytes.length; i += 2)
			text += String.fromCharCode(swap ? bytes[i] * 256 + bytes[i + 1] : bytes[i + 1] * 256 + bytes[i]);
		// A surrogate before a single byte is one error, not two.
		const odd = bytes.length % 2 && !/[\ud800-\udbff]$/.test(text);
		if (this.#fatal && (bytes.length % 2 || !text.isWellFormed()))
			return null;
		return text.toWellFormed() + (odd ? '\ufffd' : '');
	}

	decode(input = undefined, options = {}) {
		const stream = Boolean(options?.stream);
		if (!this.#streaming) {
			this.#pending = new Uint8Array(0);
			this.#bomSeen = false;
		}
		const given = input === undefined ? new Uint8Array(0) : bytesOf(input, 'TextDecoder.decode');
		const bytes = this.#pending.length ? joinBytes([this.#pending, given]) : given;
		const kept = stream ? this.#tail(bytes) : 0;
		this.#streaming = stream;
		this.#pending = bytes.slice(bytes.length - kept);
		let text = this.#text(kept ? bytes.subarray(0, bytes.length - kept) : bytes);
		if (text === null) {
			this.#streaming = false;
			throw new TypeError(MALFORMED);
		}
		if (text !== '' && !this.#bomSeen) {
			this.#bomSeen = true;
			if (text[0] === '\ufeff' && !this.#ignoreBOM && this.#encoding !== 'windows-1252')
				text = text.slice(1);
		}
		return text;
	}
}
publish('TextEncoder', TextEncoder);
publish('TextDecoder', TextDecoder);

// The text of bytes, without a byte order mark.
const decodeText = (bytes) => {
	const text = native.utf8Decode(bytes);
	return text[0] === '\ufeff' ? text.slice(1) : text;
};
// Bytes as a text of code points up to 255, and back.
const binaryOf = (bytes) => {
	let text = '';
	for (let i = 0; i < bytes.length; i += 8192)
		text += String.fromCharCode(...bytes.subarray(i, i + 8192));
	return text;
};
