/**
 * The server could not be reached or refused the run; whether the code has run is unknown. Errors of the code are in
 * the result instead.
 */
export class GloveboxError extends Error {
  override readonly name = 'GloveboxError';
  /** The kind of error: `connection_lost`, `not_found`, `closed`, `invalid`, `refused` … */
  readonly code: string;
  /** The rejected field, if the error concerns one: `options.imports`. */
  declare readonly field?: string;

  constructor(code: string, message: string, field?: string) {
    super(message);
    this.code = code;
    if (field !== undefined) this.field = field;
  }
}

/** A value cannot be passed between host and sandbox. */
export class SerializationError extends Error {
  override readonly name = 'SerializationError';
  /** The place in the value: `globals.user.socket`. */
  readonly path: string;

  constructor(path: string, why: string) {
    super(`${path}: ${why}`);
    this.path = path;
  }
}

/** The message of an error, or any other thrown value as text. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return 'something that cannot be shown';
  }
}
