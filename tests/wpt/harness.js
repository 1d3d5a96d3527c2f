// The functions that tests of web-platform-tests call, written from the documentation of testharness.js. One text with the
// scripts of a test: they see these declarations. `await WPT.results()` at the end returns what the tests have shown.
const WPT = (() => {
	const tests = [], cleanups = [];
	const PASS = 'passed', FAIL = 'failed', TIMEOUT = 'timeout', NOTRUN = 'not run', OPTIONAL = 'optional';
	let queue = Promise.resolve(), explicitDone = false, single = null;
	const allDone = {};
	allDone.promise = new Promise((resolve) => (allDone.resolve = resolve));
	class OptionalError extends Error {}

	const show = (value, depth = 2) => {
		if (typeof value === 'string')
			return JSON.stringify(value).slice(0, 200);
		if (Object.is(value, -0))
			return '-0';
		if (Array.isArray(value) && depth > 0)
			return `[${value.slice(0, 20).map((one) => show(one, depth - 1)).join(', ')}]`;
		try {
			return typeof value === 'object' && value !== null ? `object "${value}"`.slice(0, 200) : String(value);
		} catch {
			return 'object';
		}
	};
	const fail = (what, message) => {
		throw new Error(`${what}${message === undefined ? '' : `: ${message}`}`);
	};
	const check = (holds, what, message) => {
		if (!holds)
			fail(what, message);
	};

	class Test {
		constructor(name, properties = {}) {
			this.name = name ?? 'untitled';
			this.status = NOTRUN;
			this.properties = properties ?? {};
			this.cleanups = [];
			this.finished = {};
			this.finished.promise = new Promise((resolve) => (this.finished.resolve = resolve));
			tests.push(this);
		}
		end(status, error) {
			if (this.status !== NOTRUN)
				return;
			this.status = error instanceof OptionalError ? OPTIONAL : status;
			this.message = error === undefined ? '' : `${error}`.slice(0, 400);
			cleanups.push(...this.cleanups);
			const cleaned = this.cleanups.map((one) => {
				try {
					return one();
				} catch (problem) {
					return problem;
				}
			});
			Promise.allSettled(cleaned).then(this.finished.resolve);
		}
		step(run, self = this, ...parameters) {
			if (this.status !== NOTRUN)
				return undefined;
			try {
				return run.apply(self, parameters);
			} catch (error) {
				this.end(FAIL, error);
				return undefined;
			}
		}
		step_func(run, self = this) {
			return (...parameters) => this.step(run, self, ...parameters);
		}
		step_func_done(run, self = this) {
			return (...parameters) => {
				if (run)
					this.step(run, self, ...parameters);
				this.done();
			};
		}
		step_timeout(run, ms, ...parameters) {
			return setTimeout(() => this.step(run, this, ...parameters), ms);
		}
		step_wait(condition, what, ms = 3000, interval = 50) {
			return step_wait(condition, what, ms, interval);
		}
		unreached_func(message) {
			return this.step_func(() => fail('this must not be reached', message));
		}
		add_cleanup(run) {
			this.cleanups.push(run);
		}
		done() {
			this.end(PASS);
		}
		get_signal() {
			const controller = new AbortController();
			this.add_cleanup(() => controller.abort());
			return controller.signal;
		}
	}

	const test = (run, name, properties) => {
		const one = new Test(name, properties);
		const returned = one.step(run, one, one);
		if (returned && typeof returned.then === 'function')
			one.end(FAIL, new Error('test() got a promise'));
		one.done();
		return one;
	};
	const async_test = (run, name, properties) => {
		const one = typeof run === 'string' ? new Test(run, name) : new Test(name, properties);
		if (typeof run === 'function')
			one.step(run, one, one);
		return one;
	};
	const promise_test = (run, name, properties) => {
		const one = new Test(name, properties);
		queue = queue.then(async () => {
			try {
				const promise = run.call(one, one);
				check(promise && typeof promise.then === 'function', 'promise_test needs a promise');
				promise.then(() => one.done(), (error) => one.end(FAIL, error ?? new Error('rejected without a reason')));
			} catch (error) {
				one.end(FAIL, error);
			}
			await one.finished.promise;
		});
		return one;
	};
	const step_wait = async (condition, what = 'a condition', ms = 3000, interval = 50) => {
		for (const until = Date.now() + ms; !(await condition());) {
			check(Date.now() < until, 'waited in vain', what);
			await new Promise((resolve) => setTimeout(resolve, interval));
		}
	};

	const same = Object.is;
	const isConstructor = (error, constructor, message) => {
		check(error !== null && typeof error === 'object', `thrown: ${show(error)}, not an Error`, message);
		check(error.constructor === constructor && error.name === constructor.name,
			`thrown: ${error.name} (${`${error.message}`.slice(0, 100)}), not ${constructor.name}`, message);
	};
	const isDOM = (error, type, message) => {
		check(error instanceof DOMException, `thrown: ${show(error)}, not a DOMException`, message);
		check(typeof type === 'number' ? error.code === type : error.name === type || DOMException[type] === error.code,
			`thrown: ${error.name}, not ${type}`, message);
	};
	const thrown = (run, message) => {
		try {
			run.call(this);
		} catch (error) {
			return [error];
		}
		return fail('nothing was thrown', message);
	};
	const rejected = (promise, message) => Promise.resolve(promise).then(() => fail('the promise was fulfilled', message), (error) => [error]);
	const sameObject = (actual, expected, message, path = '') => {
		check(typeof actual === 'object' && actual !== null, `${path} is ${show(actual)}`, message);
		for (const key of Object.keys(expected)) {
			if (typeof expected[key] === 'object' && expected[key] !== null)
				sameObject(actual[key], expected[key], message, `${path}.${key}`);
			else
				check(same(actual[key], expected[key]), `${path}.${key} is ${show(actual[key])}, not ${show(expected[key])}`, message);
		}
		for (const key of Object.keys(actual))
			check(key in expected, `${path}.${key} is not expected`, message);
	};

	const asserts = {
		assert_true: (actual, message) => check(actual === true, `${show(actual)} is not true`, message),
		assert_false: (actual, message) => check(actual === false, `${show(actual)} is not false`, message),
		assert_equals: (actual, expected, message) => check(same(actual, expected), `${show(actual)} is not ${show(expected)}`, message),
		assert_not_equals: (actual, expected, message) => check(!same(actual, expected), `both are ${show(actual)}`, message),
		assert_in_array: (actual, expected, message) => check(expected.includes(actual), `${show(actual)} is not one of ${show(expected)}`, message),
		assert_array_equals(actual, expected, message) {
			check(typeof actual === 'object' && actual !== null && 'length' in actual, `${show(actual)} is not an array`, message);
			check(actual.length === expected.length, `${show([...actual])} has another length than ${show([...expected])}`, message);
			for (let i = 0; i < actual.length; i++)
				check(Object.hasOwn(actual, i) === Object.hasOwn(expected, i) && same(actual[i], expected[i]),
					`at ${i}: ${show(actual[i])} is not ${show(expected[i])}`, message);
		},
		assert_object_equals: (actual, expected, message) => sameObject(actual, expected, message),
		assert_class_string: (object, name, message) =>
			asserts.assert_equals(Object.prototype.toString.call(object), `[object ${name}]`, message),
		assert_own_property: (object, name, message) => check(Object.hasOwn(object, name), `there is no own ${show(name)}`, message),
		assert_not_own_property: (object, name, message) => check(!Object.hasOwn(object, name), `there is an own ${show(name)}`, message),
		assert_inherits: (object, name, message) =>
			check(!Object.hasOwn(object, name) && name in object, `${show(name)} is not inherited`, message),
		assert_idl_attribute: (object, name, message) => check(name in object, `there is no ${show(name)}`, message),
		assert_readonly(object, name, message) {
			const before = object[name];
			try {
				object[name] = `${before}x`;
			} catch {}
			check(same(object[name], before), `${name} was changed`, message);
		},
		assert_regexp_match: (actual, pattern, message) => check(pattern.test(actual), `${show(actual)} does not match ${pattern}`, message),
		assert_approx_equals: (actual, expected, epsilon, message) =>
			check(Math.abs(actual - expected) <= epsilon, `${actual} is not about ${expected}`, message),
		assert_less_than: (actual, limit, message) => check(actual < limit, `${show(actual)} is not less than ${show(limit)}`, message),
		assert_greater_than: (actual, limit, message) => check(actual > limit, `${show(actual)} is not greater than ${show(limit)}`, message),
		assert_less_than_equal: (actual, limit, message) => check(actual <= limit, `${show(actual)} is greater than ${show(limit)}`, message),
		assert_greater_than_equal: (actual, limit, message) => check(actual >= limit, `${show(actual)} is less than ${show(limit)}`, message),
		assert_between_exclusive: (actual, low, high, message) => check(actual > low && actual < high, `${actual} is not between`, message),
		assert_unreached: (message) => fail('this must not be reached', message),
		assert_throws_js(constructor, run, message) {
			isConstructor(thrown(run, message)[0], constructor, message);
		},
		assert_throws_dom(type, run, message, other) {
			const isRealm = typeof message === 'function';
			isDOM(thrown(isRealm ? message : run, isRealm ? other : message)[0], type, isRealm ? other : message);
		},
		assert_throws_exactly: (value, run, message) => asserts.assert_equals(thrown(run, message)[0], value, message),
		promise_rejects_js: (t, constructor, promise, message) =>
			rejected(promise, message).then(([error]) => isConstructor(error, constructor, message)),
		promise_rejects_dom: (t, type, promise, message, other) => typeof promise === 'function' ?
			rejected(message, other).then(([error]) => isDOM(error, type, other)) :
			rejected(promise, message).then(([error]) => isDOM(error, type, message)),
		promise_rejects_exactly: (t, value, promise, message) =>
			rejected(promise, message).then(([error]) => asserts.assert_equals(error, value, message)),
		assert_implements: (holds, message) => check(Boolean(holds), 'it is not implemented', message),
		assert_implements_optional(holds, message) {
			if (!holds)
				throw new OptionalError(message);
		},
		assert_any(assertion, actual, expected, ...rest) {
			const errors = [];
			for (const one of expected)
				try {
					return assertion(actual, one, ...rest);
				} catch (error) {
					errors.push(error);
				}
			throw errors[0];
		},
	};

	const setup = (run, properties) => {
		const options = typeof run === 'function' ? properties : run;
		explicitDone ||= Boolean(options?.explicit_done);
		if (options?.single_test)
			single = new Test('the test of the file');
		if (typeof run === 'function')
			run();
	};
	const results = async (seconds) => {
		const timer = new Promise((resolve) => setTimeout(resolve, seconds * 1000));
		const finished = (async () => {
			if (explicitDone)
				await allDone.promise;
			// Tests can make further tests.
			for (let n = -1; n !== tests.length;) {
				n = tests.length;
				await Promise.all(tests.map((one) => one.finished.promise));
				await queue;
			}
		})();
		await Promise.race([finished, timer]);
		for (const one of tests)
			if (one.status === NOTRUN)
				one.end(TIMEOUT);
		return tests.map((one) => [one.name, one.status, one.message]);
	};
	return {
		results,
		functions: {
			...asserts, test, async_test, promise_test, setup, step_wait,
			promise_setup: (run) => (queue = queue.then(run)),
			step_timeout: (run, ms, ...parameters) => setTimeout(run, ms, ...parameters),
			done() {
				single?.done();
				allDone.resolve();
			},
			add_completion_callback() {}, add_result_callback() {}, add_start_callback() {},
			format_value: show,
			generate_tests: (run, lists, properties) =>
				lists.forEach(([name, ...parameters]) => test(() => run(...parameters), name, properties)),
		},
	};
})();

for (const [name, value] of Object.entries(WPT.functions))
	globalThis[name] = value;
globalThis.self = globalThis;
globalThis.GLOBAL = {isWindow: () => false, isWorker: () => false, isShadowRealm: () => false};
globalThis.location = (({href, protocol, host, hostname, port, pathname, search, hash, origin}) =>
	({href, protocol, host, hostname, port, pathname, search, hash, origin, toString: () => href}))(new URL('{{location}}'));
// To detach buffers is the only use of it in these tests.
globalThis.MessageChannel = class {
	port1 = {postMessage: (message, transferred) => transferred.forEach((buffer) => buffer.transfer())};
};

// Modules are strict: scripts of tests assign to these without a declaration.
for (const name of ['forbiddenMethod', 'idx', 'onload', 'overrideHeader', 'permittedValue', 'result'])
	globalThis[name] = undefined;
globalThis.btoa = (text) => {
	const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
	const bits = [...text].map((c) => c.charCodeAt(0).toString(2).padStart(8, '0')).join('');
	const encoded = (bits.match(/.{1,6}/g) ?? []).map((six) => letters[parseInt(six.padEnd(6, '0'), 2)]).join('');
	return encoded.padEnd(Math.ceil(encoded.length / 4) * 4, '=');
};

// Code in the sandbox has no address, so nothing is relative to it; tests expect that they have one.
{
	const {fetch: plainFetch, Request: PlainRequest, Response: PlainResponse} = globalThis;
	const absolute = (input) => {
		if (input instanceof PlainRequest)
			return input;
		return URL.canParse(input) || !URL.canParse(input, location.href) ? input : new URL(input, location.href).href;
	};
	globalThis.fetch = function fetch(input, ...rest) {
		return arguments.length ? plainFetch(absolute(input), ...rest) : plainFetch();
	};
	globalThis.Request = new Proxy(PlainRequest, {
		construct: (target, [input, ...rest], newTarget) => Reflect.construct(target, input === undefined && !rest.length ? [] : [absolute(input), ...rest], newTarget === globalThis.Request ? target : newTarget),
	});
	PlainRequest.prototype.constructor = globalThis.Request;
	const plainRedirect = PlainResponse.redirect;
	PlainResponse.redirect = (url, ...rest) => plainRedirect(absolute(url), ...rest);
}
