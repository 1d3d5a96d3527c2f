// console: each call becomes a LOG frame with its arguments as values; methods that format output (table,
// dir) log text.

const now = Date.now;
const LEVELS = ['log', 'info', 'warn', 'error', 'debug'];

// @send sends a frame; @max() returns the maximum size of a frame.
function captureConsole(console, Console, send, max) {
	const log = (level, args) => {
		const timestamp = now();
		const write = shown => makeFrame(FRAME.LOG, max(), out => {
			out.number(level);
			out.float(timestamp);
			encodeValue(out, shown, LENIENT, 'args', null);
		});
		let frame;
		try {
			frame = write(args);
		} catch (error) {
			try {
				frame = write([error instanceof TooLarge ? '[too large to be shown]' : '[cannot be shown]']);
			} catch {
				return;
			}
		}
		send(frame);
	};
	const sink = level => ({
		write(text) {
			log(level, [String(text).replace(/\n$/, '')]);
			return true;
		},
		on() {}, once() {}, removeListener() {}, listenerCount: () => 0,
	});
	const drawn = new Console({stdout: sink(0), stderr: sink(3), colorMode: false});
	for (const name of Object.keys(console)) {
		const level = LEVELS.indexOf(name);
		if (level >= 0)
			console[name] = (...args) => log(level, args);
		else if (typeof console[name] === 'function' && typeof drawn[name] === 'function')
			console[name] = drawn[name].bind(drawn);
	}
}
