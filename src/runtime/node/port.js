// The channel: a socket that is read by the event loop, and synchronously by wait().

const CHANNEL = 3;
const READ_STEP = 64 << 10;

class Port {
	constructor() {
		this.muted = false;
		this.reader = new FrameReader();
		this.chunk = Buffer.allocUnsafe(READ_STEP);
		this.onFrame = null;
	}

	listen(onFrame) {
		this.onFrame = onFrame;
		this.socket = new net.Socket({fd: CHANNEL, readable: true, writable: false});
		this.handle = this.socket._handle;
		this.socket.on('data', bytes => {
			this.reader.feed(bytes);
			this.deliver();
		});
		// Exit when the keeper closes the channel.
		this.socket.on('close', () => process.reallyExit(0));
		this.socket.on('error', () => process.reallyExit(0));
	}

	deliver() {
		for (let frame; (frame = this.reader.next());)
			this.onFrame(frame);
	}

	send(frame) {
		if (this.muted)
			return;
		for (let at = 0; at < frame.length;) {
			try {
				at += fs.writeSync(CHANNEL, frame, at, frame.length - at);
			} catch (error) {
				if (error.code !== 'EAGAIN')
					process.reallyExit(0);
				this.handle.setBlocking(true); // unblock() reverts it
				this.blocking = true;
			}
		}
		this.unblock();
	}

	unblock() {
		if (!this.blocking)
			return;
		this.blocking = false;
		this.handle.setBlocking(false);
	}

	// Blocks until the next frame.
	wait() {
		let frame = this.reader.next();
		if (frame)
			return frame;
		this.handle.setBlocking(true);
		this.blocking = true;
		while (!(frame = this.reader.next())) {
			const missing = Math.max(this.reader.missing(), READ_STEP);
			const into = missing > READ_STEP ? Buffer.allocUnsafe(missing) : this.chunk;
			const n = fs.readSync(CHANNEL, into, 0, into.length, null);
			if (n === 0)
				process.reallyExit(0);
			this.reader.feed(Buffer.from(into.subarray(0, n)));
		}
		this.unblock();
		// Deliver further frames in the next turn of the event loop.
		if (this.reader.length && !this.reader.missing())
			setImmediate(() => this.deliver());
		return frame;
	}

	// Whether the channel keeps the event loop alive.
	hold() {
		this.socket?.ref();
	}

	letGo() {
		this.socket?.unref();
	}

	// Block until the host ends the process.
	finish() {
		this.handle.setBlocking(true);
		for (;;)
			if (fs.readSync(CHANNEL, this.chunk, 0, READ_STEP, null) === 0)
				process.reallyExit(0);
	}
}
