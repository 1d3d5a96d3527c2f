// setTimeout and its relatives. The worker waits for the first timer that is due.

const timers = new Map();
let nextTimer = 1, timersInUse = 0;
const TIMERS_MAX = 10000;

const scheduleTimers = () => {
	let first = Infinity;
	for (const timer of timers.values())
		first = Math.min(first, timer.at);
	native.deadline(first);
};

const addTimer = (callback, ms, {repeat = false, parameters = []} = {}) => {
	if (timers.size >= TIMERS_MAX)
		throw new RangeError(`at most ${TIMERS_MAX} timers can wait`);
	const id = nextTimer++;
	timers.set(id, {callback, at: native.now() + ms, order: timersInUse++, every: repeat ? ms : 0, parameters});
	scheduleTimers();
	return id;
};

const clearTimer = (id) => {
	if (timers.delete(Number(id)))
		scheduleTimers();
};

// One timer, so that microtasks run before the next one.
const runTimer = () => {
	const now = native.now();
	let due, id;
	for (const [key, timer] of timers)
		if (timer.at <= now && (!due || timer.at < due.at || (timer.at === due.at && timer.order < due.order))) {
			due = timer;
			id = key;
		}
	if (due && due.every) {
		due.at = now + due.every;
		due.order = timersInUse++;
	} else if (due) {
		timers.delete(id);
	}
	scheduleTimers();
	due?.callback(...due.parameters);
};

// As in Node.js: what is no number from 1 to 2^31 - 1 is 1.
const delayOf = (ms) => (Number(ms) >= 1 && Number(ms) <= 0x7fffffff ? Math.trunc(Number(ms)) : 1);
const needFunction = (name, callback) => {
	if (typeof callback !== 'function')
		throw new TypeError(`${name} takes a function`);
};
const timerFunctions = {
	setTimeout(callback, ms = 0, ...parameters) {
		needFunction('setTimeout', callback);
		return addTimer(callback, delayOf(ms), {parameters});
	},
	setInterval(callback, ms = 0, ...parameters) {
		needFunction('setInterval', callback);
		return addTimer(callback, delayOf(ms), {repeat: true, parameters});
	},
	clearTimeout(id = 0) {
		clearTimer(id);
	},
	clearInterval(id = 0) {
		clearTimer(id);
	},
	fetch,
};
for (const [name, value] of Object.entries(timerFunctions))
	Object.defineProperty(globalThis, name, {value, writable: true, enumerable: true, configurable: true});

return {
	message: onMessage,
	timer: runTimer,
	lost: onLost,
	end() {
		timers.clear();
		scheduleTimers();
		dropRequests();
	},
};
