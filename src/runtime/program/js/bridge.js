// Calls between the code and the host. A call of the host blocks the code until the answer arrives; the
// answer may be a promise that settles later. Calls of the code's functions are served between turns of its
// event loop.

const ANSWER = {RETURNED: 0, THROWN: 1, PROMISED: 2};
const REPORT = 0xffffffff;
const LENT_MAX = 1 << 16;
const IN_FLIGHT_FACTOR = 4;
const CALL_SLACK = 64;

class Bridge {
	constructor(port) {
		// send(frame), wait(): frame; hold(), letGo(): whether the event loop stays alive for frames
		this.port = port;
		this.nextCall = 0; // even: the code blocks until the first answer
		this.nextPromise = 1;
		this.inbox = []; // frames that arrived while the code waited for another one
		this.hostFunctions = new Map();
		this.hostIds = new WeakMap();
		this.guests = [];
		this.guestIds = new Map();
		this.pending = new Map();
		this.open({call: 0, calls: 0, inFlight: 0, report: 0});
	}

	// Begin a run with its own limits.
	open(limits) {
		this.limits = limits;
		this.calls = 0;
		this.reported = 0;
		this.inFlightBytes = 0;
		for (const {cost} of this.pending.values())
			this.inFlightBytes += cost;
	}

	// True if the host can still wake the code up.
	get awaited() {
		return this.pending.size > 0 || this.guestIds.size > 0 || this.inbox.length > 0;
	}

	limit(what, limit) {
		return new RangeError(`${what} (the limit is ${limit})`);
	}

	// --- calls to the host

	writeCall(call, id, args) {
		const limits = this.limits;
		let begin;
		let frame;
		try {
			frame = makeFrame(FRAME.CALL, limits.call + CALL_SLACK, out => {
				out.number(call);
				out.number(id);
				begin = out.length;
				out.max = begin + limits.call;
				encodeValue(out, args, id === REPORT ? STRICT : BRIDGED, 'args', this);
			});
		} catch (error) {
			throw error instanceof TooLarge
				? this.limit('the arguments of a call to the host are too large', limits.call) : error;
		}
		if (id === REPORT) {
			if (frame.length - begin > limits.report - this.reported)
				throw this.limit('this run has reached its limit of reported bytes', limits.report);
			this.reported += frame.length - begin;
		}
		return frame;
	}

	// An even number marks a call that blocks the code: the keeper relies on it, see
	// src/runtime/deno/worker.c.
	prepare(id, args, waits) {
		const {limits} = this, call = waits ? this.nextCall : this.nextPromise;
		this.nextCall += waits ? 2 : 0;
		this.nextPromise += waits ? 0 : 2;
		const frame = this.writeCall(call, id, args);
		const cost = frame.length - FRAME_HEAD;
		if (this.calls === limits.calls)
			throw this.limit('this run has used up its host calls', limits.calls);
		if (this.pending.size >= limits.inFlight)
			throw this.limit('too many host calls are in flight', limits.inFlight);
		if (this.inFlightBytes + cost > IN_FLIGHT_FACTOR * limits.call)
			throw this.limit('host calls in flight hold too many bytes', IN_FLIGHT_FACTOR * limits.call);
		this.calls++;
		return {call, cost, frame};
	}

	// A promise for the answer to @call.
	await(call, cost) {
		this.inFlightBytes += cost;
		this.port.hold();
		return new Promise((resolve, reject) => this.pending.set(call, {resolve, reject, cost}));
	}

	call(id, args) {
		const {call, cost, frame} = this.prepare(id, args, true);
		this.port.send(frame);
		for (;;) {
			const answer = this.port.wait();
			const reader = new Reader(answer.payload, this);
			if (answer.type !== FRAME.ANSWER || reader.number() !== call) {
				this.keep(answer);
				continue;
			}
			const how = reader.number();
			if (how === ANSWER.PROMISED)
				return this.await(call, cost);
			const value = reader.graph();
			if (how === ANSWER.THROWN)
				throw value;
			return value;
		}
	}

	keep(frame) {
		// Copy: the next read may overwrite its bytes.
		this.inbox.push({type: frame.type, payload: Buffer.from(frame.payload)});
		if (this.inbox.length === 1)
			setImmediate(() => this.receiveKept());
	}

	receiveKept() {
		const frames = this.inbox;
		this.inbox = [];
		for (const frame of frames)
			this.receive(frame);
	}

	// --- functions and promises lent to the other side

	hostFunction(id, name) {
		const known = this.hostFunctions.get(id);
		if (known)
			return known;
		const bridge = this;
		const made = id === REPORT ? (...args) => bridge.call(id, [args[0]]) : (...args) => bridge.call(id, args);
		Object.defineProperty(made, 'name', {value: name, configurable: true});
		this.hostFunctions.set(id, made);
		this.hostIds.set(made, id);
		return made;
	}

	hostPromise(id) {
		const {call, cost, frame} = this.prepare(id, [], false);
		this.port.send(frame);
		return this.await(call, cost);
	}

	own(id) {
		if (id >= this.guests.length)
			throw new ReferenceError(`the sandbox has lent no function or promise with id ${id}`);
		return this.guests[id];
	}

	lend(value) {
		const hosts = typeof value === 'function' ? this.hostIds.get(value) : undefined;
		if (hosts !== undefined)
			return {side: SIDE.HOST, id: hosts};
		let id = this.guestIds.get(value);
		if (id === undefined) {
			if (this.guests.length === LENT_MAX)
				throw this.limit('this run has lent too many functions and promises to the host', LENT_MAX);
			id = this.guests.push(value) - 1;
			this.guestIds.set(value, id);
			this.port.lent?.();
			if (typeof value !== 'function')
				value.then(undefined, () => {}); // the host handles its rejection from now on
		}
		return {side: SIDE.SANDBOX, id};
	}

	// --- calls from the host, and late answers

	writeAnswer(call, how, value) {
		return makeFrame(FRAME.ANSWER, this.limits.call + CALL_SLACK / 2, out => {
			out.number(call);
			out.number(how);
			encodeValue(out, value, BRIDGED, how === ANSWER.THROWN ? 'thrown value' : 'return value', this);
		});
	}

	answer(call, how, value) {
		let frame;
		try {
			frame = this.writeAnswer(call, how, value);
		} catch (error) {
			// Send the reason for the failed encoding instead.
			const why = error instanceof TooLarge
				? this.limit('the answer to the host is too large', this.limits.call) : error;
			try {
				frame = this.writeAnswer(call, ANSWER.THROWN, why);
			} catch {
				frame = this.writeAnswer(call, ANSWER.THROWN, undefined);
			}
		}
		this.port.send(frame);
	}

	async serve(reader) {
		const call = reader.number(), id = reader.number();
		let value;
		try {
			const callee = this.own(id);
			const args = reader.graph();
			value = await (typeof callee === 'function' ? callee(...args) : callee);
		} catch (error) {
			this.answer(call, ANSWER.THROWN, error);
			return;
		}
		this.answer(call, ANSWER.RETURNED, value);
	}

	settle(reader) {
		const call = reader.number(), how = reader.number();
		const waiting = this.pending.get(call);
		// PROMISED for one of the host's own promises: the actual answer follows.
		if (!waiting || how === ANSWER.PROMISED)
			return;
		this.pending.delete(call);
		this.inFlightBytes -= waiting.cost;
		if (!this.pending.size)
			this.port.letGo();
		try {
			const value = reader.graph();
			(how === ANSWER.THROWN ? waiting.reject : waiting.resolve)(value);
		} catch (error) {
			waiting.reject(error);
		}
	}

	receive(frame) {
		const reader = new Reader(frame.payload, this);
		if (frame.type === FRAME.CALL)
			this.serve(reader);
		else if (frame.type === FRAME.ANSWER)
			this.settle(reader);
		else if (frame.type === FRAME.JOB || frame.type === FRAME.PRIME)
			this.onJob(reader, frame.type === FRAME.PRIME);
		else if (frame.type === FRAME.INTERRUPT)
			this.onInterrupt();
		else if (frame.type === FRAME.SIGNALLED)
			this.onSignalled();
	}
}
