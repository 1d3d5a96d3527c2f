// What was thrown, as it is told: the stack shows the code's own frames, at the places where they stand in its source.

const TOLD = Symbol('glovebox: how an error is told');
const OWN_FRAMES = /^\s+at (?:.*\()?(?:async )?(?:glovebox:|node:|ext:|file:\/\/\/tmp\/\.glovebox\/)/;

// Note how @error is to be told; @code is what code can ask it for.
function told(error, how, code) {
	Object.defineProperty(error, TOLD, {value: how, configurable: true});
	if (code)
		error.code = code;
	return error;
}

// Sources that were changed before they ran, by name: where to look for what stands in them.
const positions = new Map();

// Take out frames that are not the code's, and put the others where they belong.
function cleanStack(stack) {
	const lines = [];
	for (const line of stack.split('\n')) {
		if (!line.startsWith('    at ')) {
			lines.push(line);
			continue;
		}
		if (!OWN_FRAMES.test(line))
			lines.push(mapFrame(line));
	}
	return lines.join('\n');
}

// "    at f (file:1:2)", "    at file:1:2"
function placeOf(line) {
	const at = /^\s+at (?:(.*) \()?(.*):(\d+):(\d+)\)?$/.exec(line);
	return at && {name: at[1], filename: at[2].replace(/^async /, ''), line: Number(at[3]), column: Number(at[4])};
}

function mapFrame(line) {
	const place = placeOf(line);
	const source = place && positions.get(place.filename);
	if (!source)
		return line;
	const column = source.columnOf(place.line, place.column);
	const where = `${source.name ?? place.filename}:${place.line}:${column}`;
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

// How @thrown is told: the fields of a failure.
function describeFailure(thrown, status = STATUS.ERROR) {
	if (!(typeof thrown === 'object' && thrown !== null && isError(thrown)))
		return {status, name: 'Error', message: messageOf(thrown)};
	const told = thrown[TOLD] ?? {};
	const name = told.name ?? textProperty(thrown, 'name') ?? 'Error';
	const message = told.message ?? textProperty(thrown, 'message') ?? '';
	const raw = textProperty(thrown, 'stack') ?? '';
	const syntax = name === 'SyntaxError' ? syntaxPlace(raw) : null;
	const stack = syntax || told.name ? `${name}: ${message}` : cleanStack(raw);
	if (isOutOfMemory(name, message))
		return {status: STATUS.MEMORY, name: 'MemoryError', message: `the run needed more memory than its limit: ${message}`,
			stack, code: 'memory'};
	const place = syntax ?? firstPlace(stack) ?? told.place ?? {};
	return {status: told.status ?? status, name, message, stack, code: told.code, specifier: told.specifier,
		filename: place.filename, line: place.line, column: place.column};
}
