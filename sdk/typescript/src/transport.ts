import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { GloveboxError } from './errors.js';
import type { GloveboxOptions } from './options.js';

/** A stream in each direction, to a child process or to a socket. */
export interface Transport {
  input: Readable;
  output: Writable;
  /** Sets whether the transport keeps this process alive. */
  hold(alive: boolean): void;
  /** Closes the transport: by end of file, or at once. */
  end(atOnce: boolean): void;
}

/** Called once, when the transport has closed. */
type Gone = (error: GloveboxError) => void;

/** How much of the end of the process's stderr the error contains when the process ends. */
const STDERR_TAIL = 2000;

export function openTransport(options: GloveboxOptions, gone: Gone): Transport {
  if (options.socket !== undefined) return openSocket(options.socket, gone);
  return openProcess(options.command ?? ownCommand(options), options.env, gone);
}

function ownCommand({ path, configFile, settings = {} }: GloveboxOptions): string[] {
  const file = configFile === undefined ? [] : ['--config', configFile];
  const set = Object.entries(settings).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  return [findProgram(path), 'stdio', ...file, ...set];
}

/** The child process ends with this process, which closes its stdin. */
function openProcess(command: readonly string[], env: GloveboxOptions['env'], gone: Gone): Transport {
  const [program, ...args] = command;
  const child = spawn(program!, args, { stdio: 'pipe', ...(env && { env }) });
  if (!(child.stdin as Writable | undefined)) {
    child.on('error', () => {}); // the same error, reported later
    throw new GloveboxError('spawn_failed', `cannot start ${command.join(' ')}: too many open files`);
  }
  const pipes = [child.stdin, child.stdout, child.stderr] as Writable[] as Socket[];
  let tail = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (tail = (tail + text).slice(-STDERR_TAIL)));
  for (const pipe of pipes) pipe.on('error', () => {}); // the process has ended, which 'close' reports
  child.on('error', (error) => {
    gone(new GloveboxError('spawn_failed', `cannot start ${command.join(' ')}: ${error.message}`));
  });
  child.on('close', (status, signal) => {
    const how = signal ? `was ended by ${signal}` : `ended with status ${status}`;
    const why = tail.trim() && `: ${tail.trim()}`;
    gone(new GloveboxError('connection_lost', `${command.join(' ')} ${how}${why}`));
  });
  return {
    input: child.stdout,
    output: child.stdin,
    hold: (alive) => [child, ...pipes].forEach((held) => (alive ? held.ref() : held.unref())),
    end: (atOnce) => (atOnce ? child.kill('SIGKILL') : child.stdin.end()),
  };
}

function openSocket(path: string, gone: Gone): Transport {
  const socket = connect(path);
  let why = 'it was closed by the other side';
  socket.on('error', (error) => (why = error.message));
  socket.on('close', () => gone(new GloveboxError('connection_lost', `the connection to ${path} is lost: ${why}`)));
  return {
    input: socket,
    output: socket,
    hold: (alive) => (alive ? socket.ref() : socket.unref()),
    end: (atOnce) => (atOnce ? socket.destroy() : socket.end()),
  };
}

function findProgram(path: string | undefined): string {
  if (path !== undefined) return mustBeProgram(path, 'the option path');
  const fromEnvironment = process.env.GLOVEBOX_PATH;
  if (fromEnvironment) return mustBeProgram(fromEnvironment, 'the environment variable GLOVEBOX_PATH');

  const beside = fileURLToPath(new URL(programBeside(import.meta.url), import.meta.url));
  // A relative entry of the PATH is the working folder, which can be a cloned repository.
  const folders = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute);
  const found = [beside, ...folders.map((folder) => join(folder, 'glovebox'))].find(isProgram);
  if (found !== undefined) return found;
  throw new GloveboxError(
    'not_found',
    'the program glovebox was not found: the environment variable GLOVEBOX_PATH is not set, ' +
      `there is no ${beside}, and no glovebox in the PATH (${folders.join(delimiter)}). ` +
      'Install Glovebox, or set its path with GLOVEBOX_PATH or new Glovebox({ path }).',
  );
}

/** In an installed tree (`make install`), its bin/glovebox; else the one in this package. */
function programBeside(module: string): string {
  return module.includes('/share/glovebox/typescript/dist/') ? '../../../../bin/glovebox' : '../bin/glovebox';
}

function mustBeProgram(path: string, source: string): string {
  if (isProgram(path)) return path;
  throw new GloveboxError('not_found', `there is no program at ${path}, which ${source} names`);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
