// Uses much of the language, a little of each: loops and arithmetic, strings, objects, arrays, closures, classes, collections,
// generators, promises, exceptions, regular expressions, JSON, typed arrays, destructuring.
function numbers(n) {
	let sum = 0, bits = 0;
	for (let i = 0; i < n; i++) {
		sum += i % 7 === 0 ? i * 1.5 : i - 1;
		bits ^= (i << 3) | (i >>> 2) & ~i;
		if (sum > 1e9) sum -= 1e9;
		else if (sum < -1e9) sum = -sum;
	}
	let j = n;
	while (j --> 0) { if (j & 1) continue; if (j === 2) break; bits += j; }
	return sum + bits + Math.floor(Math.sqrt(n)) + Math.max(1, 2, n) + Number.parseInt('42', 10) + 2 ** 10;
}
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
function sieve(n) {
	const composite = new Uint8Array(n + 1), primes = [];
	for (let i = 2; i <= n; i++) {
		if (composite[i]) continue;
		primes.push(i);
		for (let k = i * i; k <= n; k += i) composite[k] = 1;
	}
	return primes.length;
}
function strings(n) {
	let text = '';
	for (let i = 0; i < n; i++) text += String.fromCharCode(97 + i % 26) + (i % 10 ? '' : ' ');
	const words = text.split(' ').filter((w) => w.length > 3).map((w) => w.toUpperCase().slice(1, -1).padStart(12, '.'));
	const counts = {};
	for (const c of text) counts[c] = (counts[c] ?? 0) + 1;
	return [words.join('-').replaceAll('.', '').replace(/([A-Z])([A-Z])/g, '$2$1').length, text.indexOf('xyz'), text.includes('abc'),
		Object.keys(counts).sort().join(''), /^(\w+)\s(?<rest>.*)$/.exec(text)?.groups.rest.length, text.trim().charCodeAt(3), `${words[0]}:${n}`];
}
class Shape { #area = 0; constructor(name) { this.name = name } get area() { return this.#area } set area(a) { this.#area = a } static of(x) { return new this(x) } toString() { return `${this.name} ${this.area}` } }
class Square extends Shape { constructor(side) { super('square'); this.side = side; this.area = side * side } scale(f) { return new Square(this.side * f) } }
function objects(n) {
	const all = [];
	for (let i = 0; i < n; i++) {
		const { side, name, ...rest } = Object.assign(new Square(i), { tag: i, list: [i, i + 1] });
		all.push({ side, name, ...rest, key: `k${i % 13}`, nested: { deep: [1, , 3], f() { return this.deep.length } } });
	}
	const [first, , third = {}, ...others] = all;
	delete first.tag;
	const grouped = all.reduce((groups, o) => { (groups[o.key] ||= []).push(o); return groups }, {});
	for (const key in grouped) if (!('k0' in grouped) && key) throw new Error(key);
	return [String(new Square(3).scale(2)), all.find((o) => o.side === 7)?.nested.f(), Object.entries(grouped).length, others.some((o) => o.side > n), third.side,
		all.sort((a, b) => b.side - a.side || a.name.localeCompare(b.name))[0].side, Shape.of('x') instanceof Shape, typeof first, JSON.stringify(JSON.parse(JSON.stringify(all))).length];
}
function collections(n) {
	const map = new Map(), set = new Set(), weak = new WeakMap();
	for (let i = 0; i < n; i++) { const key = { i }; map.set(i % 50, (map.get(i % 50) ?? 0) + i); set.add(`${i % 30}`); weak.set(key, i) }
	let total = 0;
	for (const [k, v] of map) total += k * v;
	set.forEach((s) => { total += +s });
	const floats = Float64Array.from({ length: n }, (_, i) => i / 3);
	return [total, [...set].length, floats.subarray(1, 5).reduce((a, b) => a + b, 0), [3, 1, 2].toSorted(), Array.from(map.keys()).flat().concat([1]).lastIndexOf(1), 10n ** 20n % 7n];
}
function* walk(n) { for (let i = 0; i < n; i++) { const got = yield i; if (got) return got } }
function closures(n) {
	const fns = [];
	for (let i = 0; i < n; i++) fns.push((x) => x + i);
	const compose = (...fs) => (x) => fs.reduce((v, f) => f(v), x);
	let caught = 0;
	for (let i = 0; i < n; i++) {
		try { if (i % 3 === 0) throw new TypeError(`no ${i}`); if (i % 5 === 0) null.x } catch (e) { caught += e instanceof TypeError ? e.message.length : 1 } finally { caught++ }
		switch (i % 4) { case 0: caught += 1; break; case 1: caught -= 1; default: caught ^= 1 }
	}
	return [compose(...fns)(1), [...walk(n)].length, caught, (function () { return arguments.length }).call(null, 1, 2), new Date(0).toISOString(), Symbol('s').toString()];
}
async function promises(n) {
	let sum = 0;
	for (let i = 0; i < n; i++) sum += await i;
	async function* numbers() { for (let i = 0; i < n; i++) yield i }
	for await (const i of numbers()) sum += i;
	const settled = await Promise.allSettled([1, Promise.reject(new Error('x')), new Promise((done) => done(3))]);
	return [sum, settled.length, await Promise.all([1, 2].map(async (x) => x * 2))];
}
const out = [numbers(30000), fib(17), sieve(5000), strings(4000), objects(300), collections(2000), closures(1500), await promises(300)];
export default JSON.stringify(out, (_, v) => typeof v === 'bigint' ? `${v}` : v).length;
