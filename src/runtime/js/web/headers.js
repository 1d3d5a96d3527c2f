// Headers. A list of headers is [[name in lower case, value, name as it was given]].

const byteString = (value) => {
	const text = `${value}`;
	for (let i = 0; i < text.length; i++)
		if (text.charCodeAt(i) > 255)
			throw new TypeError('a header has a letter that is no byte: its code is above 255');
	return text;
};
const normalizeValue = (value) => value.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
// eslint-disable-next-line no-control-regex
const isHeaderValue = (value) => !/[\0\r\n]/.test(value);

const headerValue = (list, name) => {
	const values = list.filter((entry) => entry[0] === name).map((entry) => entry[1]);
	return values.length ? values.join(', ') : null;
};
const setHeader = (list, name, value, given = name) => {
	const at = list.findIndex((entry) => entry[0] === name);
	if (at < 0) {
		list.push([name, value, given]);
		return;
	}
	list[at] = [name, value, list[at][2]];
	for (let i = list.length - 1; i > at; i--)
		if (list[i][0] === name)
			list.splice(i, 1);
};
const removeHeader = (list, name) => {
	for (let i = list.length - 1; i >= 0; i--)
		if (list[i][0] === name)
			list.splice(i, 1);
};

const namesOf = (list) => [...new Set(list.map((entry) => entry[0]))];
const sortHeaders = (list) => {
	const sorted = [];
	for (const name of namesOf(list).sort())
		if (name === 'set-cookie')
			sorted.push(...list.filter((entry) => entry[0] === name).map((entry) => [name, entry[1]]));
		else
			sorted.push([name, headerValue(list, name)]);
	return sorted;
};

// "No-CORS-safelisted request-header" of Fetch.
const SAFE_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];
const isSafelisted = (name, value) => {
	if (value.length > 128)
		return false;
	if (name === 'accept-language' || name === 'content-language')
		return /^[0-9A-Za-z *,\-.;=]*$/.test(value);
	// eslint-disable-next-line no-control-regex
	const isSafe = !/[\0-\x08\x0a-\x1f"():<>?@[\\\]{}\x7f]/.test(value);
	return isSafe && (name === 'accept' || (name === 'content-type' && SAFE_TYPES.includes(parseMime(value)?.essence)));
};

class Headers {
	#list = [];
	#guard = 'none';
	constructor(init = undefined) {
		if (init === INTERNAL) {
			this.#list = arguments[1];
			this.#guard = arguments[2];
			return;
		}
		if (init !== undefined)
			fillHeaders(this, init);
	}
	static list(headers) {
		return headers.#list;
	}
	#check(name, value, all = value) {
		if (!HTTP_TOKEN.test(name))
			throw new TypeError(`'${name.slice(0, 60)}' is not the name of a header`);
		if (!isHeaderValue(value))
			throw new TypeError(`the value of the header '${name.slice(0, 60)}' has CR, LF or NUL`);
		if (this.#guard === 'immutable')
			throw new TypeError('these headers cannot be changed');
		// Only harmless headers may be set then.
		return this.#guard !== 'request-no-cors' || isSafelisted(name.toLowerCase(), all);
	}
	append(name, value) {
		needArguments('Headers.append', arguments.length, 2);
		name = byteString(name);
		value = normalizeValue(byteString(value));
		const before = headerValue(this.#list, name.toLowerCase());
		if (this.#check(name, value, before === null ? value : `${before}, ${value}`))
			this.#list.push([name.toLowerCase(), value, name]);
	}
	delete(name) {
		needArguments('Headers.delete', arguments.length, 1);
		name = byteString(name);
		if (this.#check(name, '', name.toLowerCase() === 'content-type' ? 'text/plain' : ''))
			removeHeader(this.#list, name.toLowerCase());
	}
	get(name) {
		needArguments('Headers.get', arguments.length, 1);
		name = byteString(name);
		if (!HTTP_TOKEN.test(name))
			throw new TypeError(`'${name.slice(0, 60)}' is not the name of a header`);
		return headerValue(this.#list, name.toLowerCase());
	}
	getSetCookie() {
		return this.#list.filter((entry) => entry[0] === 'set-cookie').map((entry) => entry[1]);
	}
	has(name) {
		needArguments('Headers.has', arguments.length, 1);
		name = byteString(name);
		if (!HTTP_TOKEN.test(name))
			throw new TypeError(`'${name.slice(0, 60)}' is not the name of a header`);
		return this.#list.some((entry) => entry[0] === name.toLowerCase());
	}
	set(name, value) {
		needArguments('Headers.set', arguments.length, 2);
		name = byteString(name);
		value = normalizeValue(byteString(value));
		if (this.#check(name, value))
			setHeader(this.#list, name.toLowerCase(), value, name);
	}
}
const headerList = Headers.list;
delete Headers.list;
makeIterable(Headers, 'Headers Iterator', (headers) => sortHeaders(headerList(headers)));
publish('Headers', Headers);

const fillHeaders = (headers, init) => {
	const pairs = pairsOf(init, 'Headers', byteString);
	if (!pairs)
		throw new TypeError('Headers are made of pairs, or of an object');
	for (const [name, value] of pairs)
		headers.append(name, value);
};
