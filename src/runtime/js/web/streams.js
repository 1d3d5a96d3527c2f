// ReadableStream with default readers. The state of a stream is its core, so that this file can read streams without
// their public methods, which code may have replaced.

const deferred = () => {
	const made = {};
	made.promise = new Promise((resolve, reject) => {
		made.resolve = resolve;
		made.reject = reject;
	});
	return made;
};
const handled = (promise) => {
	promise.then(undefined, () => {});
	return promise;
};
const isStream = (value) => typeof value === 'object' && value !== null && coreBrand(value);

const makeCore = ({start, pull, cancel, highWaterMark = 1, size = () => 1}) => {
	const core = {
		state: 'readable', error: undefined, queue: [], total: 0, highWaterMark, size, started: false, pulling: false,
		pullAgain: false, closing: false, disturbed: false, reader: null, pull, cancel,
	};
	const begun = start ? start(core) : undefined;
	Promise.resolve(begun).then(
		() => {
			core.started = true;
			pullIfNeeded(core);
		},
		(error) => errorCore(core, error),
	);
	return core;
};

const isWanted = (core) =>
	core.started && core.state === 'readable' && !core.closing &&
	((core.reader && core.reader.requests.length > 0) || core.highWaterMark > core.total);

const pullIfNeeded = (core) => {
	if (!isWanted(core) || !core.pull)
		return;
	if (core.pulling) {
		core.pullAgain = true;
		return;
	}
	core.pulling = true;
	let pulled;
	try {
		pulled = Promise.resolve(core.pull(core));
	} catch (error) {
		pulled = Promise.reject(error);
	}
	pulled.then(
		() => {
			core.pulling = false;
			if (core.pullAgain) {
				core.pullAgain = false;
				pullIfNeeded(core);
			}
		},
		(error) => errorCore(core, error),
	);
};

const finishClose = (core) => {
	core.state = 'closed';
	core.pull = core.cancel = null;
	if (!core.reader)
		return;
	for (const request of core.reader.requests.splice(0))
		request.resolve(request.make(undefined, true));
	core.reader.closed.resolve(undefined);
};

const closeCore = (core) => {
	core.closing = true;
	if (core.queue.length === 0)
		finishClose(core);
};

const errorCore = (core, error) => {
	if (core.state !== 'readable')
		return;
	core.state = 'errored';
	core.error = error;
	core.queue = [];
	core.total = 0;
	core.pull = core.cancel = null;
	if (!core.reader)
		return;
	for (const request of core.reader.requests.splice(0))
		request.reject(error);
	core.reader.closed.reject(error);
};

const enqueueChunk = (core, chunk) => {
	if (core.reader && core.reader.requests.length > 0) {
		const request = core.reader.requests.shift();
		request.resolve(request.make(chunk, false));
	} else {
		let size;
		try {
			size = Number(core.size === undefined ? 1 : (0, core.size)(chunk));
			if (!(size >= 0 && size < Infinity))
				throw new RangeError('the size of a chunk must be a number from 0 up');
		} catch (error) {
			errorCore(core, error);
			throw error;
		}
		core.queue.push({chunk, size});
		core.total += size;
	}
	pullIfNeeded(core);
};

const makeResult = (value, done) => ({value, done});
const readCore = (core, make = makeResult) => {
	core.disturbed = true;
	if (core.state === 'closed')
		return Promise.resolve(make(undefined, true));
	if (core.state === 'errored')
		return Promise.reject(core.error);
	if (core.queue.length > 0) {
		const {chunk, size} = core.queue.shift();
		core.total -= size;
		if (core.closing && core.queue.length === 0)
			finishClose(core);
		else
			pullIfNeeded(core);
		return Promise.resolve(make(chunk, false));
	}
	const request = {...deferred(), make};
	core.reader.requests.push(request);
	pullIfNeeded(core);
	return request.promise;
};

// For code of these files: the result has no prototype that code can change.
const readInside = (core) => readCore(core, (value, done) => ({__proto__: null, value, done}));

const cancelCore = (core, reason) => {
	core.disturbed = true;
	if (core.state === 'closed')
		return Promise.resolve(undefined);
	if (core.state === 'errored')
		return Promise.reject(core.error);
	const {cancel} = core;
	core.queue = [];
	core.total = 0;
	finishClose(core);
	try {
		return Promise.resolve(cancel?.(reason)).then(() => undefined);
	} catch (error) {
		return Promise.reject(error);
	}
};

const lockCore = (core) => {
	if (core.reader)
		throw new TypeError('the stream is locked to a reader');
	const reader = {core, requests: [], closed: deferred()};
	handled(reader.closed.promise);
	core.reader = reader;
	if (core.state === 'closed')
		reader.closed.resolve(undefined);
	else if (core.state === 'errored')
		reader.closed.reject(core.error);
	return reader;
};
const unlockCore = (reader) => {
	const error = new TypeError('the reader was released');
	if (reader.core.state === 'readable') {
		reader.closed.reject(error);
	} else {
		reader.closed = deferred();
		handled(reader.closed.promise);
		reader.closed.reject(error);
	}
	for (const request of reader.requests.splice(0))
		request.reject(error);
	reader.core.reader = null;
	reader.core = null;
};

// @isCopied: the second branch has copies of the chunks.
const cloneChunk = globalThis.structuredClone;
const teeCore = (core, isCopied = false) => {
	const reader = lockCore(core), branches = [], reasons = [], cancelled = deferred();
	let reading = false, again = false;
	const pull = async () => {
		if (reading) {
			again = true;
			return;
		}
		reading = true;
		do {
			again = false;
			let result;
			try {
				result = await readCore(core);
			} catch (error) {
				branches.forEach((branch) => errorCore(branch, error));
				cancelled.resolve(undefined);
				return;
			}
			if (result.done) {
				branches.forEach((branch, i) => !(i in reasons) && branch.state === 'readable' && closeCore(branch));
				cancelled.resolve(undefined);
				return;
			}
			const chunks = [result.value, result.value];
			try {
				chunks[1] = isCopied && !(1 in reasons) ? cloneChunk(result.value) : result.value;
			} catch (error) {
				branches.forEach((branch) => errorCore(branch, error));
				cancelled.resolve(cancelCore(core, error));
				return;
			}
			branches.forEach((branch, i) => !(i in reasons) && branch.state === 'readable' && enqueueChunk(branch, chunks[i]));
		} while (again);
		reading = false;
	};
	const cancelBranch = (i) => (reason) => {
		reasons[i] = reason;
		if (0 in reasons && 1 in reasons)
			cancelCore(core, reasons).then(cancelled.resolve, cancelled.reject);
		return cancelled.promise;
	};
	branches.push(makeCore({pull, cancel: cancelBranch(0)}), makeCore({pull, cancel: cancelBranch(1)}));
	handled(reader.closed.promise.catch((error) => {
		branches.forEach((branch) => errorCore(branch, error));
		cancelled.resolve(undefined);
	}));
	return branches;
};

class ReadableStreamDefaultController {
	#core;
	constructor(key, core) {
		if (key !== INTERNAL)
			throw new TypeError('a controller comes from a ReadableStream');
		this.#core = core;
	}
	#canGive() {
		return this.#core.state === 'readable' && !this.#core.closing;
	}
	get desiredSize() {
		const {state, highWaterMark, total} = this.#core;
		return state === 'errored' ? null : state === 'closed' ? 0 : highWaterMark - total;
	}
	close() {
		if (!this.#canGive())
			throw new TypeError('the stream is closed, or has failed');
		closeCore(this.#core);
	}
	enqueue(chunk = undefined) {
		if (!this.#canGive())
			throw new TypeError('the stream is closed, or has failed');
		if (this.#core.isBytes) {
			if (!ArrayBuffer.isView(chunk) || chunk.byteLength === 0)
				throw new TypeError('a stream of bytes takes views that are not empty');
			chunk = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
		}
		enqueueChunk(this.#core, chunk);
	}
	error(reason = undefined) {
		errorCore(this.#core, reason);
	}
}
publish('ReadableStreamDefaultController', ReadableStreamDefaultController);

class ReadableStreamDefaultReader {
	#reader;
	constructor(stream) {
		this.#reader = lockCore(coreOf(stream));
	}
	get closed() {
		return this.#reader.closed.promise;
	}
	read() {
		try {
			if (!this.#reader.core)
				throw new TypeError('the reader was released');
			return readCore(this.#reader.core);
		} catch (error) {
			return Promise.reject(error);
		}
	}
	cancel(reason = undefined) {
		try {
			if (!this.#reader.core)
				throw new TypeError('the reader was released');
			return cancelCore(this.#reader.core, reason);
		} catch (error) {
			return Promise.reject(error);
		}
	}
	releaseLock() {
		if (this.#reader.core)
			unlockCore(this.#reader);
	}
}

const AsyncIteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype);
const makeStreamIterator = (core, preventCancel) => {
	const reader = lockCore(core);
	let ongoing = Promise.resolve(), finished = false;
	const after = (step) => (ongoing = ongoing.then(step, step));
	return Object.create(AsyncIteratorPrototype, {
		next: {
			value: () => after(async () => {
				if (finished)
					return {value: undefined, done: true};
				let result;
				try {
					result = await readCore(core);
				} catch (error) {
					finished = true;
					unlockCore(reader);
					throw error;
				}
				if (result.done) {
					finished = true;
					unlockCore(reader);
				}
				return result;
			}),
			writable: true, configurable: true, enumerable: true,
		},
		return: {
			value: (value) => after(async () => {
				if (!finished) {
					finished = true;
					const cancelled = preventCancel ? undefined : cancelCore(core, value);
					unlockCore(reader);
					await cancelled;
				}
				return {value, done: true};
			}),
			writable: true, configurable: true, enumerable: true,
		},
	});
};

class ReadableStream {
	#core;
	constructor(source = {}, strategy = {}) {
		if (source === INTERNAL) {
			this.#core = strategy;
			return;
		}
		if (!isObject(source))
			throw new TypeError('the source of a ReadableStream is an object');
		const {type, start, pull, cancel} = source;
		if (type !== undefined && `${type}` !== 'bytes')
			throw new TypeError(`a ReadableStream has no type '${type}'`);
		for (const method of [start, pull, cancel])
			if (method !== undefined && typeof method !== 'function')
				throw new TypeError('start, pull and cancel of a source are functions');
		const highWaterMark = strategy?.highWaterMark === undefined ? (type === undefined ? 1 : 0) : Number(strategy.highWaterMark);
		if (!(highWaterMark >= 0))
			throw new RangeError('highWaterMark must be a number from 0 up');
		let controller;
		this.#core = makeCore({
			start(core) {
				core.isBytes = type !== undefined;
				controller = new ReadableStreamDefaultController(INTERNAL, core);
				return start?.call(source, controller);
			},
			pull: pull && (() => pull.call(source, controller)),
			cancel: cancel && ((reason) => cancel.call(source, reason)),
			highWaterMark, size: strategy?.size,
		});
	}
	static from(iterable) {
		const method = iterable?.[Symbol.asyncIterator] ?? iterable?.[Symbol.iterator];
		if (typeof method !== 'function')
			throw new TypeError('ReadableStream.from takes an iterable');
		const iterator = method.call(iterable);
		return new ReadableStream({
			async pull(controller) {
				const {value, done} = await iterator.next();
				if (done)
					controller.close();
				else
					controller.enqueue(await value);
			},
			async cancel(reason) {
				await iterator.return?.(reason);
			},
		}, {highWaterMark: 0});
	}
	static core(stream) {
		return stream.#core;
	}
	static has(value) {
		return #core in value;
	}
	get locked() {
		return this.#core.reader !== null;
	}
	cancel(reason = undefined) {
		try {
			if (this.#core.reader)
				throw new TypeError('the stream is locked to a reader');
			return cancelCore(this.#core, reason);
		} catch (error) {
			return Promise.reject(error);
		}
	}
	getReader(options = {}) {
		if (options?.mode !== undefined)
			throw new TypeError(`a ReadableStream has no readers of mode '${options.mode}'`);
		return new ReadableStreamDefaultReader(this);
	}
	tee() {
		return teeCore(this.#core).map((core) => new ReadableStream(INTERNAL, core));
	}
	values(options = {}) {
		return makeStreamIterator(this.#core, Boolean(options?.preventCancel));
	}
}
const coreOf = ReadableStream.core, coreBrand = ReadableStream.has;
delete ReadableStream.core;
delete ReadableStream.has;
publish('ReadableStream', ReadableStream);
publish('ReadableStreamDefaultReader', ReadableStreamDefaultReader);
Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator,
	{value: ReadableStream.prototype.values, writable: true, configurable: true});
const makeStream = (options) => new ReadableStream(INTERNAL, makeCore(options));
