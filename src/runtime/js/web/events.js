// EventTarget as far as AbortSignal needs it, AbortController, AbortSignal.

class Event {
	#type;
	#state = {target: null, stopped: false, prevented: false, trusted: false};
	#cancelable;
	constructor(type, init = {}) {
		needArguments('Event', arguments.length, 1);
		this.#type = `${type}`;
		this.#cancelable = Boolean(init?.cancelable);
		this.timeStamp = native.now();
	}
	static state(event) {
		return event.#state;
	}
	get type() {
		return this.#type;
	}
	get target() {
		return this.#state.target;
	}
	get currentTarget() {
		return this.#state.target;
	}
	get cancelable() {
		return this.#cancelable;
	}
	get bubbles() {
		return false;
	}
	get isTrusted() {
		return this.#state.trusted;
	}
	get defaultPrevented() {
		return this.#state.prevented;
	}
	preventDefault() {
		this.#state.prevented ||= this.#cancelable;
	}
	stopPropagation() {}
	stopImmediatePropagation() {
		this.#state.stopped = true;
	}
}
const stateOfEvent = Event.state;
delete Event.state;
publish('Event', Event);

class EventTarget {
	#listeners = [];
	addEventListener(type, callback, options = {}) {
		needArguments('EventTarget.addEventListener', arguments.length, 2);
		const {once = false, signal} = isObject(options) ? options : {};
		const capture = isObject(options) ? Boolean(options.capture) : Boolean(options);
		if (callback === null || callback === undefined || signal?.aborted)
			return;
		if (!this.#listeners.some((one) => one.type === `${type}` && one.callback === callback && one.capture === capture))
			this.#listeners.push({type: `${type}`, callback, once: Boolean(once), capture});
		signal?.addEventListener('abort', () => this.removeEventListener(type, callback, {capture}));
	}
	removeEventListener(type, callback, options = {}) {
		const capture = isObject(options) ? Boolean(options.capture) : Boolean(options);
		this.#listeners = this.#listeners.filter((one) =>
			one.type !== `${type}` || one.callback !== callback || one.capture !== capture);
	}
	dispatchEvent(event) {
		const state = stateOfEvent(event);
		state.target = this;
		for (const listener of [...this.#listeners]) {
			if (listener.type !== event.type || state.stopped || !this.#listeners.includes(listener))
				continue;
			if (listener.once)
				this.#listeners.splice(this.#listeners.indexOf(listener), 1);
			try {
				if (typeof listener.callback === 'function')
					listener.callback.call(this, event);
				else
					listener.callback.handleEvent(event);
			} catch (error) {
				native.report(error);
			}
		}
		return !event.defaultPrevented;
	}
}
publish('EventTarget', EventTarget);

class AbortSignal extends EventTarget {
	#aborted = false;
	#reason;
	#algorithms = new Set();
	#dependents = new Set();
	#sources = new Set();
	#onabort = null;

	constructor(key) {
		if (key !== INTERNAL)
			throw new TypeError('an AbortSignal comes from an AbortController, or from AbortSignal.abort, timeout or any');
		super();
	}
	static abort(reason = undefined) {
		const signal = new AbortSignal(INTERNAL);
		signalAbort(signal, reason);
		return signal;
	}
	static timeout(milliseconds) {
		needArguments('AbortSignal.timeout', arguments.length, 1);
		const ms = Number(milliseconds);
		if (!(ms >= 0 && ms <= Number.MAX_SAFE_INTEGER))
			throw new TypeError('AbortSignal.timeout takes a number of milliseconds');
		const signal = new AbortSignal(INTERNAL);
		addTimer(() => signalAbort(signal, new DOMException('the operation has timed out', 'TimeoutError')), ms);
		return signal;
	}
	static any(signals) {
		needArguments('AbortSignal.any', arguments.length, 1);
		const result = new AbortSignal(INTERNAL), list = [...signals];
		for (const signal of list)
			if (!(signal instanceof AbortSignal))
				throw new TypeError('AbortSignal.any takes a sequence of AbortSignal');
		const aborted = list.find((signal) => signal.#aborted);
		if (aborted) {
			result.#aborted = true;
			result.#reason = aborted.#reason;
			return result;
		}
		for (const signal of list)
			for (const source of signal.#sources.size ? signal.#sources : [signal]) {
				result.#sources.add(source);
				source.#dependents.add(result);
			}
		return result;
	}
	static abortNow(signal, reason) {
		if (signal.#aborted)
			return;
		const all = [signal];
		signal.#aborted = true;
		signal.#reason = reason === undefined ? new DOMException('the operation was aborted', 'AbortError') : reason;
		for (const dependent of signal.#dependents)
			if (!dependent.#aborted) {
				dependent.#aborted = true;
				dependent.#reason = signal.#reason;
				all.push(dependent);
			}
		for (const one of all) {
			for (const algorithm of one.#algorithms)
				algorithm(one.#reason);
			one.#algorithms.clear();
			const event = new Event('abort');
			stateOfEvent(event).trusted = true;
			one.dispatchEvent(event);
		}
	}
	// Calls @algorithm once with the reason; returns a function that takes it back.
	static follow(signal, algorithm) {
		if (signal.#aborted) {
			algorithm(signal.#reason);
			return () => {};
		}
		signal.#algorithms.add(algorithm);
		return () => signal.#algorithms.delete(algorithm);
	}
	get aborted() {
		return this.#aborted;
	}
	get reason() {
		return this.#reason;
	}
	throwIfAborted() {
		if (this.#aborted)
			throw this.#reason;
	}
	get onabort() {
		return this.#onabort;
	}
	set onabort(handler) {
		if (!this.#onabort)
			this.addEventListener('abort', (event) => this.#onabort?.call(this, event));
		this.#onabort = typeof handler === 'function' ? handler : null;
	}
}
const signalAbort = AbortSignal.abortNow, followSignal = AbortSignal.follow;
delete AbortSignal.abortNow;
delete AbortSignal.follow;
publish('AbortSignal', AbortSignal);

class AbortController {
	#signal = new AbortSignal(INTERNAL);
	get signal() {
		return this.#signal;
	}
	abort(reason = undefined) {
		signalAbort(this.#signal, reason);
	}
}
publish('AbortController', AbortController);
