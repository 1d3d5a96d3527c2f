// Reports of thrown values: stacks contain only frames of the code, with positions in its original source.

const FAILURE = Symbol('glovebox: failure fields');
const OWN_FRAMES = /^\s+at (?:.*\()?(?:async )?(?:glovebox:|node:|ext:|file:\/\/\/tmp\/\.glovebox\/)/;

// Attach report fields to @error; @code becomes its visible `code` property.
function withFailure(error, fields, code) {
	Object.defineProperty(error, FAILURE, {value: fields, configurable: true});
	if (code)
		error.code = code;
	return error;
}

// Position maps of rewritten sources, by filename.
const positions = new Map();

const LINE_END = /\r\n|[\n\r\u2028\u2029]/;

function endOf(text) {
	const lines = text.split(LINE_END);
	return {line: lines.length, column: lines.at(-1).length + 1};
}

const isBefore = (a, b) => a.line < b.line || (a.line === b.line && a.column < b.column);

// Where @text is within a file that has other text around it: for positions.
function placeWithin(head, text) {
	return {begin: endOf(head), end: endOf(head + text), last: endOf(text)};
}

// A position in the file of @source, as one in the text that the caller has written; null if it is in text before that.
// One behind its end, which is where a missing bracket is noticed, becomes its end.
function positionIn(source, line, column) {
	const {within} = source;
	if (!within)
		return {line, column: source.columnOf(line, column)};
	const at = {line, column};
	if (isBefore(at, within.begin))
		return null;
	if (!isBefore(at, within.end))
		return {...within.last, isBehind: true};
	return {line: line - within.begin.line + 1, column: line === within.begin.line ? column - within.begin.column + 1 : column};
}

let stacksAreMapped = false; // the code's own view of stacks has mapped positions: see presentStack()

const isFrame = line => line.startsWith('    at ');

function mapStack(stack) {
	return stack.split('\n').map(line => isFrame(line) ? mapFrame(line) : line).filter(line => line !== null).join('\n');
}

// Remove frames that are not of the code, and map the positions of the others.
function cleanStack(stack) {
	const own = stack.split('\n').filter(line => !isFrame(line) || !OWN_FRAMES.test(line)).join('\n');
	return stacksAreMapped ? own : mapStack(own);
}

const BOOTSTRAP_FILES = /^(?:glovebox:|(?:file:\/\/)?\/tmp\/\.glovebox\/|\[eval\]$)/;
const RUNTIME_FILES = /^(?:node:|ext:)/;

const fileOf = site => site.getFileName() ?? '';
const isOfCode = site => fileOf(site) !== '' && !BOOTSTRAP_FILES.test(fileOf(site)) && !RUNTIME_FILES.test(fileOf(site));

// The frames that the code sees: neither those of Glovebox, nor those of the runtime that called the code.
function visibleFrames(trace) {
	return trace.slice(0, trace.findLastIndex(isOfCode) + 1).filter(site => !BOOTSTRAP_FILES.test(fileOf(site)));
}

// The stack of @error, as the code sees it. @format(error, trace) makes a text, or what a hook of the code makes.
function presentStack(error, trace, format) {
	const stack = format(error, visibleFrames(trace));
	return typeof stack === 'string' ? mapStack(stack) : stack;
}

// "    at f (file:1:2)", "    at file:1:2"
function placeOf(line) {
	const at = /^\s+at (?:(.*) \()?(.*):(\d+):(\d+)\)?$/.exec(line);
	return at && {name: at[1], filename: at[2].replace(/^async /, ''), line: Number(at[3]), column: Number(at[4])};
}

// null: it is in text around the source.
function mapFrame(line) {
	const place = placeOf(line);
	const source = place && (positions.get(place.filename) ?? positions.get(`file://${place.filename}`));
	if (!source)
		return line;
	const at = positionIn(source, place.line, place.column);
	if (!at || at.isBehind)
		return null;
	const where = `${source.name ?? place.filename}:${at.line}:${at.column}`;
	const name = place.name && source.nameOf(place.name);
	return name ? `    at ${name} (${where})` : `    at ${where}`;
}

// A SyntaxError's stack begins with "file:line", the line itself and a row of carets under it.
function syntaxPlace(stack) {
	const lines = stack.split('\n');
	const first = /^(.*):(\d+)$/.exec(lines[0]);
	if (!first)
		return null;
	const caret = lines[2] === undefined ? -1 : lines[2].indexOf('^');
	const source = positions.get(first[1]);
	const line = Number(first[2]);
	const column = caret < 0 ? 0 : source ? source.columnOf(line, caret + 1) : caret + 1;
	return {filename: source?.name ?? first[1], line, column};
}

function firstPlace(stack) {
	for (const line of stack.split('\n')) {
		const place = placeOf(line);
		if (place)
			return place;
	}
	return null;
}

function messageOf(thrown) {
	if (typeof thrown === 'object' && thrown !== null) {
		try {
			return JSON.stringify(thrown) ?? describe(thrown);
		} catch {
			return describe(thrown);
		}
	}
	return String(thrown);
}

function isOutOfMemory(name, message) {
	return name === 'RangeError' && /^(Array buffer allocation failed|Failed to allocate memory|.*Cannot allocate memory)/.test(message) ||
		/\bERR_WORKER_OUT_OF_MEMORY\b/.test(message);
}

// The report of @thrown: the fields of a failure.
function describeFailure(thrown, status = STATUS.ERROR) {
	if (!(typeof thrown === 'object' && thrown !== null && isError(thrown)))
		return {status, name: 'Error', message: messageOf(thrown)};
	const fields = thrown[FAILURE] ?? {};
	const name = fields.name ?? textProperty(thrown, 'name') ?? 'Error';
	const message = fields.message ?? textProperty(thrown, 'message') ?? '';
	const raw = textProperty(thrown, 'stack') ?? '';
	const syntax = name === 'SyntaxError' ? syntaxPlace(raw) : null;
	const stack = syntax || fields.name ? `${name}: ${message}` : cleanStack(raw);
	if (isOutOfMemory(name, message))
		return {status: STATUS.MEMORY, name: 'MemoryError', message: `the run needed more memory than its limit: ${message}`,
			stack, code: 'memory'};
	const place = syntax ?? firstPlace(stack) ?? fields.place ?? {};
	return {status: fields.status ?? status, name, message, stack, code: fields.code, specifier: fields.specifier,
		filename: place.filename, line: place.line, column: place.column};
}
