/**
 * The sandbox could not be reached or refused the run: nothing is known about what the code did. How the code itself
 * failed is in its result.
 */
export class GloveboxError extends Error {
  override readonly name = 'GloveboxError';
  /** What went wrong, for programs: `connection_lost`, `not_found`, `closed`, `invalid`, `refused` … */
  readonly code: string;
  /** The field that was not accepted, when it was one: `options.imports`. */
  declare readonly field?: string;

  constructor(code: string, message: string, field?: string) {
    super(message);
    this.code = code;
    if (field !== undefined) this.field = field;
  }
}

/** A value cannot cross between host and sandbox. */
export class SerializationError extends Error {
  override readonly name = 'SerializationError';
  /** Where in the value: `globals.user.socket`. */
  readonly path: string;

  constructor(path: string, why: string) {
    super(`${path}: ${why}`);
    this.path = path;
  }
}

/** What an error, or anything else that was thrown, has to say. Never throws itself. */
export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return 'something that cannot be shown';
  }
}
