/* The messages of docs/PROTOCOL.md that this SDK uses. */

/** A value in its JSON form: docs/VALUES.md. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export const PROTOCOL = 1;
export const MAX_LINE_BYTES = 128 * 1024 * 1024;

/** Characters of a reason that are sent. The server keeps 4,095 bytes. */
const MAX_REASON_LENGTH = 4096;

/** The field `reason`, to be spread into a message. Any value is converted to text; `undefined` gives no field. */
export function reasonField(reason: unknown): { reason?: string } {
  if (reason === undefined) return {};
  let text = 'a reason that cannot be shown';
  try {
    text = String(reason);
  } catch {
    // The object cannot be converted to text.
  }
  return { reason: text.slice(0, MAX_REASON_LENGTH) };
}

/** A message from the client to the server, before the field `run` is added. */
export type Outgoing = JsonObject & { type: 'run' | 'execute' | 'input' | 'tool' | 'executor' | 'tool_answer' | 'answer' | 'call' | 'terminate' | 'interrupt' };

export interface CallMessage {
  call: number;
  function: number;
  args: Json[];
}

export interface ReportMessage {
  call: number;
  value: Json;
}

export interface AnswerMessage {
  call: number;
  return?: Json;
  throw?: Json;
  ended?: true;
}

export interface ErrorMessage {
  code: string;
  message: string;
  about?: string;
  run?: number;
  call?: number;
  request?: number;
  field?: string;
}

export interface OutputMessage {
  stream: 'stdout' | 'stderr';
  text: string;
}

/** The approval must be decided before `expiresAt`, in milliseconds since 1970. */
export interface PendingMessage {
  approval: string;
  expiresAt: number;
}

export interface ResultMessage {
  /** The id of the session, if this was an agent's run in one. */
  session?: string;
  /** The fields of RESULT_FIELDS. */
  result: JsonObject;
}

/** The server violated the protocol; the connection is unusable. */
export class ProtocolError extends Error {}
