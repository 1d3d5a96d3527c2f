/* The messages of docs/PROTOCOL.md, as far as this SDK uses them. */

/** A value in its JSON form: docs/VALUES.md. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export const PROTOCOL = 1;
export const MAX_LINE_BYTES = 128 * 1024 * 1024;

/** More of a reason than a Glovebox keeps. */
const MAX_REASON = 4096;

/** The field `reason` of a message. Whatever the reason is, the message must be one that is accepted. */
export function reasonField(reason: unknown): { reason?: string } {
  if (reason === undefined) return {};
  let text = 'a reason that cannot be shown';
  try {
    text = String(reason);
  } catch {
    // An object of the caller's that has no text.
  }
  return { reason: text.slice(0, MAX_REASON) };
}

/** What a client sends, but for the number of the run. */
export type Outgoing = JsonObject & { type: 'run' | 'execute' | 'input' | 'answer' | 'call' | 'terminate' | 'interrupt' };

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

/** Whoever decides has until `expiresAt`, in milliseconds since 1970. */
export interface PendingMessage {
  approval: string;
  expiresAt: number;
}

export interface ResultMessage {
  /** That an agent's run was in. */
  session?: string;
  /** The fields of RESULT_FIELDS. */
  result: JsonObject;
}

/** The server did not keep to the protocol; its connection cannot be trusted any more. */
export class ProtocolError extends Error {}
