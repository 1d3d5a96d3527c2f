// Request, Response and fetch. Each hop of a request goes to glovebox-egress over the fetch channel, which checks it: see
// src/egress/fetch.h.

const OPEN = 1, CANCEL = 2, HEAD = 3, FAIL = 4, DATA = 5, END = 6, CREDIT = 7;
const WINDOW = 256 << 10, MESSAGE_DATA = 64 << 10, REDIRECTS_MAX = 20;
const REQUESTS_MAX = 64;
const DECODED_MAX = 256 << 20, RATIO_MAX = 200, RATIO_FROM = 8 << 20;
const NO_BODY = -1, UNKNOWN_LENGTH = -2;

// --- requests under way

const requests = new Map();
let nextRequest = 1;
const liveRequests = () => requests.size;
const countRequests = () => native.live(requests.size);
const networkErrors = new WeakSet();
const networkError = (reason) => {
	const error = new TypeError(`fetch failed: ${reason}`);
	networkErrors.add(error);
	return error;
};

// Those that wait until glovebox-egress takes another request.
let waiting = [];
const nextPlace = () => new Promise((resolve) => waiting.push(resolve));

const endRequest = (request) => {
	if (requests.delete(request.id)) {
		countRequests();
		waiting.shift()?.();
	}
	request.over = true;
};

const failRequest = (request, error) => {
	endRequest(request);
	request.error = error;
	request.head.reject(error);
	request.wake?.();
	request.wakeUp?.();
	// What has arrived before can still be read.
	if (request.chunks.length === 0)
		request.onFail?.(error);
};

const abortRequest = (request, error) => {
	if (!request.over)
		native.send(CANCEL, request.id);
	failRequest(request, error);
};

// Nothing of the body is wanted. A short one is received, so that its connection can be used again.
const DISCARDED_MAX = 64 << 10;
const discardRequest = (request) => {
	request.discarded = request.chunks.reduce((n, chunk) => n + chunk.length, 0);
	request.chunks = [];
};

const onMessage = (kind, id, payload) => {
	const request = requests.get(id);
	if (!request)
		return;
	if (kind === HEAD) {
		if (payload)
			request.head.resolve(payload);
		else
			abortRequest(request, networkError('the response could not be read'));
	} else if (kind === DATA && request.discarded !== undefined) {
		request.discarded += payload.length;
		if (request.discarded > DISCARDED_MAX)
			abortRequest(request, networkError('the response was discarded'));
	} else if (kind === DATA) {
		addPiece(request.chunks, payload);
		request.wake?.();
	} else if (kind === END) {
		endRequest(request);
		request.wake?.();
	} else if (kind === FAIL) {
		failRequest(request, networkError(payload));
	} else if (kind === CREDIT) {
		request.credit += payload;
		request.wakeUp?.();
	}
};

const endRequests = (reason) => {
	for (const request of [...requests.values()])
		abortRequest(request, networkError(reason));
};
const onLost = () => endRequests('the network of the sandbox was lost');

// The run has ended: promises of its requests stay as they are, since a rejection would fail the next run of the session.
const dropRequests = () => {
	for (const request of requests.values()) {
		native.send(CANCEL, request.id);
		request.over = true;
		request.error = networkError('the run that made the request has ended');
	}
	requests.clear();
	waiting = [];
	countRequests();
};

// --- bodies of requests

const sendBytes = async (request, bytes) => {
	for (let at = 0; at < bytes.length && !request.over;) {
		while (request.credit <= 0 && !request.over)
			await new Promise((resolve) => (request.wakeUp = resolve));
		const n = Math.min(bytes.length - at, request.credit, MESSAGE_DATA);
		if (request.over)
			return;
		native.send(DATA, request.id, bytes.subarray(at, at + n));
		request.credit -= n;
		at += n;
	}
};

const sendBody = async (request, body) => {
	let reader;
	try {
		if (body.bytes) {
			await sendBytes(request, body.bytes);
		} else {
			const core = coreOf(body.stream);
			reader = lockCore(core);
			for (;;) {
				const {value, done} = await readInside(core);
				if (done || request.over)
					break;
				if (Object.prototype.toString.call(value) !== '[object Uint8Array]')
					throw new TypeError('the body of a request is a stream of Uint8Array');
				await sendBytes(request, value);
			}
		}
		if (!request.over)
			native.send(END, request.id);
		else if (reader && request.error)
			handled(cancelCore(reader.core, request.error));
	} catch (error) {
		if (!request.over)
			abortRequest(request, error);
	}
};

// --- bodies of responses

// Bytes of a response that were not read yet. What is read is given back to glovebox-egress as credit.
const makeIncoming = (request, codings) => ({request, decoders: codings.map((coding) => ({coding})), taken: 0, wire: 0, decoded: 0});

const takeChunk = async (incoming) => {
	const {request} = incoming;
	while (request.chunks.length === 0) {
		if (request.error)
			throw request.error;
		if (request.over)
			return null;
		await new Promise((resolve) => (request.wake = resolve));
	}
	const chunk = request.chunks.shift();
	incoming.wire += chunk.length;
	incoming.taken += chunk.length;
	if (incoming.taken >= WINDOW / 4 && !request.over) {
		native.send(CREDIT, request.id, incoming.taken);
		incoming.taken = 0;
	}
	return chunk;
};

const FORMATS = {'br': 0, 'gzip': 1, 'x-gzip': 1};
const openDecoder = (decoder, chunk) => {
	const format = decoder.coding === 'deflate' ? ((chunk[0] & 15) === 8 ? 2 : 3) : FORMATS[decoder.coding];
	decoder.inflater = native.inflater(format);
	return decoder.inflater;
};

const failDecoding = (incoming, reason) => {
	const error = networkError(reason);
	abortRequest(incoming.request, error);
	incoming.request.error = error;
	incoming.request.chunks = [];
	throw error;
};

// The next piece from the decoder at @at, or from the network; null at the end.
const nextPiece = async (incoming, at = incoming.decoders.length - 1) => {
	if (at < 0)
		return takeChunk(incoming);
	const decoder = incoming.decoders[at];
	for (;;) {
		let piece = decoder.inflater ? native.inflate(decoder.inflater, decoder.input) : null;
		decoder.input = undefined;
		if (piece === false)
			failDecoding(incoming, `the body is not in its content coding, ${decoder.coding}`);
		if (piece) {
			incoming.decoded += piece.length;
			if (incoming.decoded > DECODED_MAX || (incoming.decoded > RATIO_FROM && incoming.decoded > RATIO_MAX * incoming.wire))
				failDecoding(incoming, 'the body becomes too large when it is decompressed');
			return piece;
		}
		const chunk = await nextPiece(incoming, at - 1);
		if (chunk === null && piece === null && decoder.inflater)
			failDecoding(incoming, 'the body ends before its content coding does');
		if (chunk === null)
			return null;
		// What follows the end of compressed bytes is left out.
		if (chunk.length === 0 || piece === undefined)
			continue;
		if (!decoder.inflater)
			openDecoder(decoder, chunk);
		decoder.input = chunk;
	}
};

const allOfIncoming = async (incoming) => {
	const pieces = [];
	for (let piece; (piece = await nextPiece(incoming)) !== null;)
		addPiece(pieces, piece);
	return joinBytes(pieces);
};

const streamOfIncoming = (incoming) => {
	const stream = makeStream({
		async pull(core) {
			const piece = await nextPiece(incoming);
			if (core.state !== 'readable')
				return;
			if (piece === null)
				closeCore(core);
			else
				enqueueChunk(core, piece);
		},
		cancel(reason) {
			abortRequest(incoming.request, reason);
		},
		highWaterMark: 0,
	});
	incoming.fail = incoming.request.onFail = (error) => errorCore(coreOf(stream), error);
	return stream;
};

// --- Request

const enumOf = (what, value, allowed) => {
	value = `${value}`;
	if (!allowed.includes(value))
		throw new TypeError(`${what} of a request cannot be '${value.slice(0, 40)}'; it is one of: ${allowed.join(', ')}`);
	return value;
};
const REFERRER_POLICIES = ['', 'no-referrer', 'no-referrer-when-downgrade', 'same-origin', 'origin', 'strict-origin',
	'origin-when-cross-origin', 'strict-origin-when-cross-origin', 'unsafe-url'];
const MODES = ['navigate', 'same-origin', 'no-cors', 'cors'], CREDENTIALS = ['omit', 'same-origin', 'include'];
const CACHES = ['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'];
const REDIRECTS = ['follow', 'error', 'manual'];
const KNOWN_METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'];
// Headers that are part of the connection: set here, never by code.
const REFUSED = ['connection', 'content-length', 'expect', 'host', 'http2-settings', 'keep-alive', 'proxy-authenticate',
	'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

const methodOf = (text) => {
	text = `${text}`;
	if (!HTTP_TOKEN.test(text) || ['CONNECT', 'TRACE', 'TRACK'].includes(text.toUpperCase()))
		throw new TypeError(`a request cannot have the method '${text.slice(0, 40)}'`);
	return KNOWN_METHODS.includes(text.toUpperCase()) ? text.toUpperCase() : text;
};

const DEFAULTS = {
	method: 'GET', mode: 'cors', credentials: 'same-origin', cache: 'default', redirect: 'follow', referrerPolicy: '',
	referrer: 'about:client', integrity: '', keepalive: false,
};

const readInit = (state, init) => {
	if (init.window !== undefined && init.window !== null)
		throw new TypeError('window of a request can only be null');
	if (init.referrer !== undefined) {
		const referrer = usv(init.referrer), parsed = referrer === '' ? null : parseURL(referrer);
		if (referrer !== '' && !parsed)
			throw new TypeError('referrer of a request must be a URL');
		state.referrer = !parsed ? '' : 'about:client';
	}
	if (init.referrerPolicy !== undefined)
		state.referrerPolicy = enumOf('referrerPolicy', init.referrerPolicy, REFERRER_POLICIES);
	if (init.mode !== undefined)
		state.mode = enumOf('mode', init.mode, MODES);
	if (state.mode === 'navigate')
		throw new TypeError('mode of a request cannot be navigate');
	if (init.credentials !== undefined)
		state.credentials = enumOf('credentials', init.credentials, CREDENTIALS);
	if (init.cache !== undefined)
		state.cache = enumOf('cache', init.cache, CACHES);
	if (state.cache === 'only-if-cached' && state.mode !== 'same-origin')
		throw new TypeError('cache can be only-if-cached only with the mode same-origin');
	if (init.redirect !== undefined)
		state.redirect = enumOf('redirect', init.redirect, REDIRECTS);
	if (init.integrity !== undefined && init.integrity !== null)
		state.integrity = `${init.integrity}`;
	if (init.keepalive !== undefined)
		state.keepalive = Boolean(init.keepalive);
	if (init.method !== undefined)
		state.method = methodOf(init.method);
	if (init.duplex !== undefined && init.duplex !== 'half')
		throw new TypeError('duplex of a request can only be half');
	if (init.priority !== undefined)
		enumOf('priority', init.priority, ['high', 'low', 'auto']);
};

class Request {
	#state;
	#headers;
	#signal;

	constructor(input, init = {}) {
		if (input === INTERNAL) {
			this.#state = init;
			this.#headers = new Headers(INTERNAL, init.headers, 'request');
			this.#signal = arguments[2];
			return;
		}
		needArguments('Request', arguments.length, 1);
		init ??= {};
		if (!isObject(init))
			throw new TypeError('the options of a request are an object');
		const from = isObject(input) && #state in input ? input : null;
		const state = from ? {...from.#state, body: null, headers: []} : {...DEFAULTS, headers: [], body: null, url: parseURL(usv(input))};
		if (!state.url)
			throw new TypeError(`'${usv(input).slice(0, 100)}' is not a valid URL`);
		if (state.url.username || state.url.password)
			throw new TypeError('the URL of a request cannot have credentials');
		readInit(state, init);
		this.#state = state;
		this.#signal = this.#follow(init.signal === undefined ? from?.#signal : init.signal);
		this.#headers = new Headers(INTERNAL, state.headers, 'request');
		this.#fillHeaders(from, init);
		this.#takeBody(from, init);
	}

	#follow(signal) {
		if (signal === undefined || signal === null)
			return AbortSignal.any([]);
		if (!(signal instanceof AbortSignal))
			throw new TypeError('signal of a request must be an AbortSignal');
		return AbortSignal.any([signal]);
	}

	#fillHeaders(from, init) {
		const {state, noCors} = {state: this.#state, noCors: this.#state.mode === 'no-cors'};
		if (noCors && !['GET', 'HEAD', 'POST'].includes(state.method))
			throw new TypeError('a request of the mode no-cors has the method GET, HEAD or POST');
		if (noCors)
			this.#headers = new Headers(INTERNAL, state.headers, 'request-no-cors');
		if (init.headers !== undefined)
			fillHeaders(this.#headers, init.headers);
		else if (from)
			for (const [name, value] of from.#state.headers.map((entry) => [entry[2], entry[1]]))
				this.#headers.append(name, value);
	}

	#takeBody(from, init) {
		const state = this.#state, given = init.body ?? null, inherited = from?.#state.body ?? null;
		if ((given !== null || (init.body === undefined && inherited)) && ['GET', 'HEAD'].includes(state.method))
			throw new TypeError(`a request with the method ${state.method} has no body`);
		if (given !== null) {
			if (isStream(given) && init.duplex === undefined)
				throw new TypeError("a request whose body is a stream needs the option duplex: 'half'");
			const {body, type} = extractBody(given, state.keepalive);
			state.body = body;
			if (type !== null && headerValue(state.headers, 'content-type') === null)
				this.#headers.append('Content-Type', type);
		} else if (inherited && init.body === undefined) {
			if (isUnusable(inherited))
				throw new TypeError('the body of the request was read already, or is locked');
			// The body moves to this request.
			state.body = inherited.stream ? {stream: new ReadableStream(INTERNAL, passOn(coreOf(inherited.stream)))} : {bytes: inherited.bytes};
			if (!inherited.stream)
				inherited.used = true;
		}
	}

	static state(request) {
		return request.#state;
	}
	static signal(request) {
		return request.#signal;
	}
	get method() {
		return this.#state.method;
	}
	get url() {
		return serializeURL(this.#state.url);
	}
	get headers() {
		return this.#headers;
	}
	get destination() {
		return this.#state && '';
	}
	get referrer() {
		return this.#state.referrer;
	}
	get referrerPolicy() {
		return this.#state.referrerPolicy;
	}
	get mode() {
		return this.#state.mode;
	}
	get credentials() {
		return this.#state.credentials;
	}
	get cache() {
		return this.#state.cache;
	}
	get redirect() {
		return this.#state.redirect;
	}
	get integrity() {
		return this.#state.integrity;
	}
	get keepalive() {
		return this.#state.keepalive;
	}
	get isReloadNavigation() {
		return Boolean(this.#state && false);
	}
	get isHistoryNavigation() {
		return Boolean(this.#state && false);
	}
	get signal() {
		return this.#signal;
	}
	get duplex() {
		return this.#state && 'half';
	}
	clone() {
		const state = this.#state;
		if (state.body && isUnusable(state.body))
			throw new TypeError('the body of the request was read already, or is locked');
		const copy = {...state, headers: state.headers.map((entry) => [...entry]), body: state.body && cloneBody(state.body)};
		return new Request(INTERNAL, copy, AbortSignal.any([this.#signal]));
	}
}
const stateOfRequest = Request.state, signalOfRequest = Request.signal;
delete Request.state;
delete Request.signal;
addBody(Request, stateOfRequest);
publish('Request', Request);

// A stream that reads another one, which is locked from now on.
const passOn = (from) => {
	from.disturbed = true;
	lockCore(from);
	return makeCore({
		async pull(core) {
			const {value, done} = await readCore(from);
			if (done)
				closeCore(core);
			else
				enqueueChunk(core, value);
		},
		cancel: (reason) => cancelCore(from, reason),
		highWaterMark: 0,
	});
};

// --- Response

const NULL_BODY = [101, 103, 204, 205, 304], REDIRECT_STATUS = [301, 302, 303, 307, 308];
// eslint-disable-next-line no-control-regex
const isReason = (text) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text);

class Response {
	#state;
	#headers;

	constructor(body = null, init = {}) {
		if (body === INTERNAL) {
			this.#state = init;
			this.#headers = new Headers(INTERNAL, init.headers, arguments[2]);
			return;
		}
		init ??= {};
		if (!isObject(init))
			throw new TypeError('the options of a response are an object');
		this.#state = {type: 'default', url: null, redirected: false, status: 200, statusText: '', headers: [], body: null};
		this.#headers = new Headers(INTERNAL, this.#state.headers, 'response');
		Response.#initialize(this, body === null || body === undefined ? null : extractBody(body), init);
	}
	static #initialize(response, extracted, init) {
		const state = response.#state;
		if (init.status !== undefined) {
			const status = Math.trunc(Number(init.status)) & 0xffff;
			if (status < 200 || status > 599)
				throw new RangeError('the status of a response is a number from 200 to 599');
			state.status = status;
		}
		if (init.statusText !== undefined) {
			state.statusText = byteString(init.statusText);
			if (!isReason(state.statusText))
				throw new TypeError('the status text of a response has a letter that it cannot have');
		}
		if (init.headers !== undefined)
			fillHeaders(response.#headers, init.headers);
		if (!extracted)
			return;
		if (NULL_BODY.includes(state.status))
			throw new TypeError(`a response with the status ${state.status} has no body`);
		state.body = extracted.body;
		if (extracted.type !== null && headerValue(state.headers, 'content-type') === null)
			state.headers.push(['content-type', extracted.type, 'Content-Type']);
	}
	static error() {
		return new Response(INTERNAL, {type: 'error', url: null, redirected: false, status: 0, statusText: '', headers: [], body: null}, 'immutable');
	}
	static redirect(url, status = 302) {
		needArguments('Response.redirect', arguments.length, 1);
		const parsed = parseURL(usv(url));
		if (!parsed)
			throw new TypeError(`'${usv(url).slice(0, 100)}' is not a valid URL`);
		if (!REDIRECT_STATUS.includes(Number(status)))
			throw new RangeError('the status of a redirect is 301, 302, 303, 307 or 308');
		const headers = [['location', serializeURL(parsed), 'Location']];
		return new Response(INTERNAL, {type: 'default', url: null, redirected: false, status: Number(status), statusText: '', headers, body: null}, 'immutable');
	}
	static json(data, init = {}) {
		needArguments('Response.json', arguments.length, 1);
		const text = JSON.stringify(data);
		if (text === undefined)
			throw new TypeError('the data of Response.json has no JSON form');
		const response = new Response();
		Response.#initialize(response, {body: {bytes: native.utf8Encode(text.toWellFormed())}, type: 'application/json'}, init ?? {});
		return response;
	}
	static state(response) {
		return response.#state;
	}
	get type() {
		return this.#state.type;
	}
	get url() {
		return this.#state.url ? serializeURL(this.#state.url, true) : '';
	}
	get redirected() {
		return this.#state.redirected;
	}
	get status() {
		return this.#state.status;
	}
	get ok() {
		return this.#state.status >= 200 && this.#state.status <= 299;
	}
	get statusText() {
		return this.#state.statusText;
	}
	get headers() {
		return this.#headers;
	}
	clone() {
		const state = this.#state;
		if (state.body && isUnusable(state.body))
			throw new TypeError('the body of the response was read already, or is locked');
		const copy = {...state, headers: state.headers.map((entry) => [...entry]), body: state.body && cloneBody(state.body)};
		return new Response(INTERNAL, copy, this.#state.type === 'default' ? 'response' : 'immutable');
	}
}
const stateOfResponse = Response.state;
delete Response.state;
addBody(Response, stateOfResponse);
publish('Response', Response);

// --- data: URLs

const decodeBase64 = (text) => {
	text = text.replace(/[\t\n\f\r ]/g, '');
	if (text.length % 4 === 0)
		text = text.replace(/={1,2}$/, '');
	if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text))
		return null;
	const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
	const bytes = new Uint8Array(Math.floor(text.length * 3 / 4));
	for (let i = 0, bits = 0, n = 0, at = 0; i < text.length; i++) {
		bits = ((bits << 6) | letters.indexOf(text[i])) & 0xffffff;
		n += 6;
		if (n >= 8) {
			n -= 8;
			bytes[at++] = (bits >> n) & 255;
		}
	}
	return bytes;
};

const fetchData = (url) => {
	const text = serializeURL(url, true).slice('data:'.length), comma = text.indexOf(',');
	if (comma < 0)
		return null;
	let type = text.slice(0, comma).replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '');
	let bytes = percentDecode(native.utf8Encode(text.slice(comma + 1)));
	if (/; *base64$/i.test(type)) {
		bytes = decodeBase64(binaryOf(bytes));
		type = type.replace(/; *base64$/i, '');
	}
	const mime = parseMime(type[0] === ';' ? `text/plain${type}` : type);
	return bytes && {bytes: bytes.slice(), type: mime ? serializeMime(mime) : 'text/plain;charset=US-ASCII'};
};

// --- integrity

// Of the strongest function that is named, one digest has to be that of @bytes. Without a known function there is no check.
const hasIntegrity = (bytes, metadata) => {
	const known = [...metadata.matchAll(/(?:^|[\t\n\f\r ])sha(256|384|512)-([A-Za-z0-9+/_-]+={0,2})(?=[\t\n\f\r ?]|$)/gi)]
		.map(([, bits, value]) => ({bits: Number(bits), value: decodeBase64(value.replaceAll('-', '+').replaceAll('_', '/'))}));
	const bits = Math.max(...known.map((one) => one.bits)), digest = known.length ? native.digest(bits, bytes) : null;
	return !digest || known.some((one) => one.bits === bits && one.value?.length === digest.length &&
		one.value.every((byte, i) => byte === digest[i]));
};

const checkIntegrity = async (response, metadata) => {
	const bytes = response.body ? (await consume(response.body)).bytes : new Uint8Array(0);
	if (!hasIntegrity(bytes, metadata))
		throw networkError('the body is not what the integrity of the request says');
	if (response.body)
		response.body = {bytes};
};

// --- fetch

const isToken = (text, list) => list.includes(text);
const USER_AGENT = 'glovebox';

const completeHeaders = (state) => {
	const list = state.headers.map((entry) => [...entry]);
	for (const [name, , given] of list)
		if (isToken(name, REFUSED))
			throw new TypeError(`fetch refuses the header ${given}: it is part of the connection, and set by Glovebox`);
	for (const [name, value, given] of [['accept', '*/*', 'Accept'], ['accept-language', '*', 'Accept-Language'],
		['user-agent', USER_AGENT, 'User-Agent'], ['accept-encoding', 'gzip, deflate, br', 'Accept-Encoding']])
		if (headerValue(list, name) === null)
			list.push([name, value, given]);
	return list;
};

const codingsOf = (list) => {
	const codings = (headerValue(list, 'content-encoding') ?? '').toLowerCase().split(',').map(trimHTTP).filter((one) => one && one !== 'identity');
	if (codings.length > 5)
		throw networkError('the body has more than 5 content codings');
	// A coding that is not known is left to the code.
	return codings.every((one) => one in FORMATS || one === 'deflate') ? codings.reverse() : [];
};

// Make one request to one host; resolves with its head.
const makeRequest = (state, headers, controller) => {
	const {url, method, body} = state;
	const request = {
		id: nextRequest++, chunks: [], over: false, error: undefined, head: deferred(), credit: WINDOW, wake: null, wakeUp: null,
	};
	const length = !body ? NO_BODY : body.bytes ? body.bytes.length : UNKNOWN_LENGTH;
	const target = serializePath(url) + (url.query === null ? '' : `?${url.query}`);
	requests.set(request.id, request);
	controller.request = request;
	if (!native.open(request.id, method, url.scheme === 'https' ? 1 : 0, url.host, url.port ?? SPECIAL[url.scheme], target,
		namesOf(headers).flatMap((name) => [headers.find((entry) => entry[0] === name)[2], headerValue(headers, name)]), length)) {
		failRequest(request, networkError('the network of the sandbox was lost'));
		return request;
	}
	countRequests();
	if (body)
		sendBody(request, body);
	return request;
};

const makeResponse = (state, request, head) => {
	const [status, statusText, ...rest] = head, headers = [];
	for (let i = 0; i < rest.length; i += 2)
		headers.push([rest[i].toLowerCase(), rest[i + 1], rest[i]]);
	const response = {type: 'basic', url: state.url, redirected: state.hops > 0, status, statusText, headers, body: null};
	const hasBody = state.method !== 'HEAD' && !NULL_BODY.includes(status);
	if (hasBody)
		response.body = {incoming: makeIncoming(request, codingsOf(headers))};
	return response;
};

// The next hop of a redirect: changes @state. Throws if the redirect may not be followed.
const followRedirect = (state, response, headers) => {
	const location = headerValue(response.headers, 'location');
	if (location === null)
		return false;
	// Bytes above 127 stay what they are, also if they are not UTF-8.
	const escaped = location.replace(/[\x80-\xff]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
	const next = parseURL(escaped, state.url);
	if (!next)
		throw networkError('the redirect does not lead to a URL');
	if (next.scheme !== 'http' && next.scheme !== 'https')
		throw networkError(`the redirect leads to another scheme, ${next.scheme}`);
	if (next.username || next.password)
		throw networkError('the redirect leads to a URL with credentials');
	if (++state.hops > REDIRECTS_MAX)
		throw networkError(`there are more than ${REDIRECTS_MAX} redirects`);
	const {status} = response;
	if (status !== 303 && state.body && !state.body.bytes)
		throw networkError('the redirect needs the body again, which was a stream');
	if (((status === 301 || status === 302) && state.method === 'POST') || (status === 303 && !['GET', 'HEAD'].includes(state.method))) {
		state.method = 'GET';
		state.body = null;
		for (const name of ['content-encoding', 'content-language', 'content-location', 'content-type'])
			removeHeader(headers, name);
	}
	if (originOf(next) !== originOf(state.url))
		for (const name of ['authorization', 'cookie', 'host', 'proxy-authorization'])
			removeHeader(headers, name);
	next.fragment ??= state.url.fragment;
	state.url = next;
	return true;
};

const fetchHTTP = async (state, headers, controller) => {
	for (;;) {
		while (requests.size >= REQUESTS_MAX && !controller.aborted)
			await nextPlace();
		if (controller.aborted) {
			waiting.shift()?.();
			throw networkError('the request was aborted');
		}
		const request = makeRequest(state, headers, controller), head = await request.head.promise;
		const response = makeResponse(state, request, head);
		if (!REDIRECT_STATUS.includes(response.status) || state.redirect === 'manual')
			return response;
		if (state.redirect === 'error' && headerValue(response.headers, 'location') !== null) {
			abortRequest(request, undefined);
			throw networkError('the server has redirected, and the request does not allow it');
		}
		let follows;
		try {
			follows = followRedirect(state, response, headers);
		} catch (error) {
			abortRequest(request, error);
			throw error;
		}
		if (!follows)
			return response;
		discardRequest(request);
	}
};

const fetchScheme = async (state, controller) => {
	const {scheme} = state.url;
	if (scheme === 'http' || scheme === 'https')
		return fetchHTTP(state, completeHeaders(state), controller);
	const data = scheme === 'data' ? fetchData(state.url) : null;
	if (!data)
		throw networkError(scheme === 'data' ? 'the data: URL is malformed' : `there is no scheme '${scheme}' here`);
	return {
		type: 'basic', url: state.url, redirected: false, status: 200, statusText: 'OK',
		headers: [['content-type', data.type, 'Content-Type']], body: state.method === 'HEAD' ? null : {bytes: data.bytes},
	};
};

// A response that nothing refers to any more needs no connection.
const unread = new FinalizationRegistry((request) => {
	if (!request.over)
		abortRequest(request, networkError('the response was discarded'));
});

const startFetch = async (request) => {
	const given = stateOfRequest(request), signal = signalOfRequest(request);
	const state = {...given, hops: 0}, controller = {request: null, aborted: false}, aborted = deferred();
	handled(aborted.promise);
	let response = null;
	followSignal(signal, (reason) => {
		aborted.reject(reason);
		controller.aborted = true;
		if (controller.request)
			abortRequest(controller.request, reason);
		abortBody(given.body, reason);
		const incoming = response?.body?.incoming;
		if (incoming) {
			incoming.request.error = reason;
			incoming.request.chunks = [];
			incoming.fail?.(reason);
		}
	});
	if (given.body) {
		if (given.body.stream)
			coreOf(given.body.stream).disturbed = true;
		else
			given.body.used = true;
		state.body = given.body.stream ? {stream: given.body.stream} : {bytes: given.body.bytes};
	}
	response = await Promise.race([fetchScheme(state, controller), aborted.promise]);
	if (state.integrity !== '')
		await Promise.race([checkIntegrity(response, state.integrity), aborted.promise]);
	const made = new Response(INTERNAL, response, 'immutable');
	if (controller.request && !response.body)
		discardRequest(controller.request);
	else if (controller.request && response.body.incoming)
		unread.register(response.body.incoming, controller.request);
	return made;
};

const answer = async (request, stack) => {
	try {
		return await startFetch(request);
	} catch (error) {
		// It was made when glovebox-egress answered: the code that called is no longer on the stack then.
		if (networkErrors.has(error))
			error.stack = stack.slice(stack.indexOf('\n') + 1);
		throw error;
	}
};

const abortBody = (body, reason) => {
	if (body?.stream && coreOf(body.stream).state === 'readable')
		handled(cancelCore(coreOf(body.stream), reason));
};

function fetch(input, init = undefined) {
	try {
		needArguments('fetch', arguments.length, 1);
		const request = new Request(input, init), signal = signalOfRequest(request);
		if (!signal.aborted)
			return answer(request, new Error().stack);
		abortBody(stateOfRequest(request).body, signal.reason);
		return Promise.reject(signal.reason);
	} catch (error) {
		return Promise.reject(error);
	}
}
