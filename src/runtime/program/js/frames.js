// Frames: a little-endian length of the rest, a type, a payload. The last five types are internal to keeper
// and program: see src/runtime/program/v8.h.

const FRAME = {JOB: 1, RESULT: 2, LOG: 3, CALL: 4, ANSWER: 5, OUTPUT: 6, DISPLAY: 7, EXIT: 8, SIGNALLED: 123, WATCHING: 124, INTERRUPT: 125, READY: 126, PRIME: 127};
const FRAME_HEAD = 5;
const FRAME_MAX = 2 ** 30;

// A frame whose payload is appended by @write, at most @max bytes.
function makeFrame(type, max, write) {
	const out = new Writer(Math.min(max, FRAME_MAX) + FRAME_HEAD);
	out.length = FRAME_HEAD;
	write(out);
	out.bytes.writeUInt32LE(out.length - FRAME_HEAD + 1, 0);
	out.bytes[4] = type;
	return out.bytes.subarray(0, out.length);
}

// Splits a byte stream into frames.
class FrameReader {
	constructor() {
		this.pieces = [];
		this.length = 0;
	}

	feed(bytes) {
		this.pieces.push(bytes);
		this.length += bytes.length;
	}

	join() {
		if (this.pieces.length > 1)
			this.pieces = [Buffer.concat(this.pieces)];
		return this.pieces[0];
	}

	// Number of bytes missing for a complete frame; 0 if one is available.
	missing() {
		if (this.length < FRAME_HEAD)
			return FRAME_HEAD - this.length;
		if (this.pieces[0].length < FRAME_HEAD)
			this.join();
		return Math.max(0, this.pieces[0].readUInt32LE(0) + FRAME_HEAD - 1 - this.length);
	}

	// The next complete frame, or null.
	next() {
		if (this.missing())
			return null;
		const bytes = this.join(), end = bytes.readUInt32LE(0) + FRAME_HEAD - 1;
		this.length -= end;
		this.pieces = this.length ? [bytes.subarray(end)] : [];
		return {type: bytes[4], payload: bytes.subarray(FRAME_HEAD, end)};
	}
}
