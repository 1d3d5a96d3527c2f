// A process that runs a peer repeatedly: either a number of runs, each timed, or as
// many as fit into a number of seconds.
'use strict';
const [file, job] = process.argv.slice(2);
const { runs, seconds } = JSON.parse(job);
const WARM_UP_RUNS = 3;

async function timed(once) {
	const start = performance.now();
	const value = await once();
	if (value !== 2) throw new Error(`1+1 came back as ${value}`);
	return performance.now() - start;
}

async function main() {
	const once = await require(file).prepare();
	for (let i = 0; i < WARM_UP_RUNS; i++) await timed(once);
	if (runs) {
		const times = [];
		while (times.length < runs) times.push(await timed(once));
		return { times };
	}
	const start = performance.now();
	let done = 0;
	let passed = 0;
	while (passed < seconds * 1000) {
		await timed(once);
		done++;
		passed = performance.now() - start;
	}
	return { runs: done, seconds: passed / 1000 };
}

main()
	.catch((e) => ({ error: e.message }))
	.then((result) => process.send(result, () => process.exit(0)));
