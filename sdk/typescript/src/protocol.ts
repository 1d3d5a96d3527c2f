/* The messages of docs/PROTOCOL.md that this SDK uses. */

/** A value in its JSON form: docs/VALUES.md. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export const PROTOCOL = 1;
export const MAX_LINE_BYTES = 128 * 1024 * 1024;

/** Longer than the part of a reason that a Glovebox keeps. */
const MAX_REASON = 4096;

/** The field `reason` of a message. Any value is converted to a text that the server accepts. */
export function reasonField(reason: unknown): { reason?: string } {
  if (reason === undefined) return {};
  let text = 'a reason that cannot be shown';
  try {
    text = String(reason);
  } catch {
    // An object without a text form.
  }
  return { reason: text.slice(0, MAX_REASON) };
}

/** A message of the client, without the number of the run. */
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
  /** The session of an agent's run. */
  session?: string;
  /** The fields of RESULT_FIELDS. */
  result: JsonObject;
}

/** The server violated the protocol; the connection is unusable. */
export class ProtocolError extends Error {}
