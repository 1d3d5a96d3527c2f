const NEWLINE = 10;

/** Splits a stream into lines. The pieces of a long line are joined once, at its end. */
export class LineSplitter {
  readonly #maxBytes: number;
  readonly #onLine: (line: string) => void;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number, onLine: (line: string) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
  }

  /** Throws a RangeError if a line exceeds `maxBytes`. */
  push(chunk: Buffer): void {
    let start = 0;
    for (let end; (end = chunk.indexOf(NEWLINE, start)) !== -1; start = end + 1) {
      this.#take(chunk.subarray(start, end));
      const line = Buffer.concat(this.#pieces, this.#bytes).toString('utf8');
      this.#pieces = [];
      this.#bytes = 0;
      this.#onLine(line);
    }
    if (start < chunk.length) this.#take(chunk.subarray(start));
  }

  #take(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) throw new RangeError(`a line is longer than ${this.#maxBytes} bytes`);
    this.#pieces.push(piece);
  }
}
