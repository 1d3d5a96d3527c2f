// The data of url/percent-encoding.window.js as URL reads them; that test reads documents of many encodings.
promise_test(async () => {
	for (const unit of await (await fetch('resources/percent-encoding.json')).json())
		if (typeof unit !== 'string')
			test(() => {
				const url = new URL(`https://x.test/?${unit.input}#${unit.input}`);
				assert_equals(url.hash, `#${unit.output['utf-8']}`, 'fragment');
				assert_equals(url.search, `?${unit.output['utf-8']}`, 'query');
			}, `Input ${unit.input} with encoding utf-8`);
}, 'Loading data…');
