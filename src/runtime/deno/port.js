// The channel: three named pipes, since Deno cannot open descriptors by number. One is read synchronously
// while the code blocks, one by the event loop; the keeper selects the pipe for each frame.

const DIR = '/tmp/.glovebox';
const READ_STEP = 64 << 10;

class Port {
	constructor() {
		this.muted = false;
		this.out = Deno.openSync(`${DIR}/out`, {write: true});
		this.in = Deno.openSync(`${DIR}/in`, {read: true});
		this.later = Deno.openSync(`${DIR}/later`, {read: true});
		this.inReader = new FrameReader();
		this.laterReader = new FrameReader();
		this.inChunk = Buffer.allocUnsafe(READ_STEP);
		this.laterChunk = Buffer.allocUnsafe(READ_STEP);
		this.held = this.lends = this.listening = false;
		this.onFrame = null;
	}

	send(frame) {
		if (this.muted)
			return;
		for (let at = 0; at < frame.length;)
			at += this.out.writeSync(frame.subarray(at));
	}

	// Blocks until the next frame for blocked code.
	wait() {
		let frame;
		while (!(frame = this.inReader.next())) {
			const n = this.in.readSync(this.inChunk);
			if (n === null)
				Deno.exit(0);
			this.inReader.feed(Buffer.from(this.inChunk.subarray(0, n)));
		}
		return frame;
	}

	// A pending read keeps the event loop alive.
	async listen() {
		if (this.listening)
			return;
		this.listening = true;
		const n = await this.later.read(this.laterChunk);
		this.listening = false;
		this.laterReader.feed(Buffer.from(this.laterChunk.subarray(0, n ?? 0)));
		for (let frame; (frame = this.laterReader.next());)
			this.onFrame(frame);
		if (this.held || this.lends || this.laterReader.length)
			this.listen();
	}

	// From now on the host may call at any time.
	lent() {
		this.lends = true;
		this.listen();
	}

	hold() {
		this.held = true;
		this.listen();
	}

	letGo() {
		this.held = false;
	}

	// Block until the host ends the process.
	finish() {
		for (;;)
			if (this.in.readSync(this.inChunk) === null)
				Deno.exit(0);
	}
}
