// Decodes jobs and encodes results.

const STATUS = {SUCCESS: 0, ERROR: 1, MEMORY: 2, LINK_ERROR: 3};
const FLAG = {EXPORT_REQUIRED: 1, REPORT: 2};
const RESULT_SLACK = 256;
const TEXT_MAX = 64 << 10;

function readJob(reader) {
	const job = {source: reader.text(), filename: reader.text(), exportName: reader.text(), flags: reader.number()};
	for (const name of ['memory', 'output', 'result', 'report', 'call', 'calls', 'inFlight', 'cpuSeconds'])
		job[name] = reader.number();
	job.modules = new Map();
	for (let n = reader.number(); n > 0; n--) {
		const name = reader.text();
		job.modules.set(name, reader.text());
	}
	reader.bridge.open(job);
	// One graph: a value that occurs in several of them is the same value.
	job.imports = reader.root();
	job.globals = reader.root();
	job.args = reader.root();
	job.settings = reader.graph();
	if (job.flags & FLAG.REPORT)
		job.globals.report = reader.bridge.hostFunction(REPORT, 'report');
	return job;
}

function successFrame(job, value, mode) {
	try {
		return makeFrame(FRAME.RESULT, job.result + RESULT_SLACK, out => {
			out.number(STATUS.SUCCESS);
			out.number(0);
			out.simple(SIMPLE.FALSE);
			out.simple(SIMPLE.NULL);
			out.max = out.length + job.result;
			encodeValue(out, value, mode, 'result', null);
		});
	} catch (error) {
		if (!(error instanceof TooLarge))
			throw error;
		throw Object.assign(new RangeError('the result is larger than this run may return'), {[FAILURE]: {code: 'result_size'}});
	}
}

function cut(text) {
	return typeof text === 'string' && text.length > TEXT_MAX ? text.slice(0, TEXT_MAX) : text;
}

function failureFrame(failure) {
	return makeFrame(FRAME.RESULT, FRAME_MAX, out => {
		out.number(failure.status);
		out.number(0);
		out.simple(SIMPLE.FALSE);
		out.head(4, 8);
		for (const name of ['name', 'message', 'stack', 'code', 'specifier', 'filename'])
			out.textOrNull(cut(failure[name]));
		out.number(failure.line ?? 0);
		out.number(failure.column ?? 0);
	});
}

function exitFrame(code) {
	return makeFrame(FRAME.EXIT, 16, out => out.number(code & 255));
}
