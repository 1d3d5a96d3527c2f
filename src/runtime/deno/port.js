// The channel: three named pipes, since Deno opens nothing by number. One is read while the code waits, one in turns of the
// loop; the keeper knows which frame is for which.

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

	// The next frame for who waits, whenever it comes.
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

	// While it listens the loop goes on.
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

	// The host may call at any time from now on.
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

	// Wait for the end, which the host brings.
	finish() {
		for (;;)
			if (this.in.readSync(this.inChunk) === null)
				Deno.exit(0);
	}
}
