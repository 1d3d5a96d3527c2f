// Domain names with other letters than ASCII: UTS #46, not transitional. The mapping is derived from the tables of the
// engine (NFKC, case, properties), as section 7 of UTS #46 derives its own. See docs/NETWORK.md for what differs.

const DISALLOWED = /[\p{Cn}\p{Co}\p{Cs}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\u2ff0-\u2fff\ufffc\ufffd\u{1d159}\u{1d173}-\u{1d17a}\u2fe0-\u2fef]/u;
const IGNORED = /(?![\u200c-\u200f\u202a-\u202e\u2061-\u206f\ufff0-\ufff8\u{1d173}-\u{1d17a}\u{e0000}-\u{e00ff}\u{e01f0}-\u{e0fff}])\p{Default_Ignorable_Code_Point}/u;
const MARK = /^\p{M}/u;
const CHEROKEE = /[\u13a0-\u13f5]/u, SMALL_CHEROKEE = /[\u13f8-\u13fd\uab70-\uabbf]/u;
const VIRAMA = /[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u0e3a\u0eba\u0f84\u1039\u103a\u1714\u1715\u1734\u17d2\u1a60\u1b44\u1baa\u1bab\u1bf2\u1bf3\u2d7f\ua806\ua82c\ua8c4\ua953\ua9c0\uaaf6\uabed\u{10a3f}\u{11046}\u{11070}\u{1107f}\u{110b9}\u{11133}\u{11134}\u{111c0}\u{11235}\u{112ea}\u{1134d}\u{11442}\u{114c2}\u{115bf}\u{1163f}\u{116b6}\u{1172b}\u{11839}\u{1193d}\u{1193e}\u{119e0}\u{11a34}\u{11a47}\u{11a99}\u{11c3f}\u{11d44}\u{11d45}\u{11d97}]/u;
// Letters of scripts whose letters join on both sides, apart from those that join only to the right, or not at all.
const JOINS_ONE_SIDE = /[\u0621-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0677\u0688-\u0699\u06c0\u06c3-\u06cb\u06cd\u06cf\u06d2\u06d3\u06d5\u06ee\u06ef\u0710\u0715-\u0719\u071e\u0728\u072a\u072c\u072f\u074d]/u;
const JOINING = /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Phags_Pa}\p{Script=Mandaic}\p{Script=Adlam}\p{Script=Hanifi_Rohingya}]/u;
const RTL = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Adlam}\p{Script=Hanifi_Rohingya}\p{Script=Imperial_Aramaic}\p{Script=Phoenician}\p{Script=Lydian}\p{Script=Cypriot}\p{Script=Kharoshthi}\p{Script=Avestan}\p{Script=Old_Turkic}\p{Script=Mende_Kikakui}\p{Script=Old_Hungarian}\p{Script=Yezidi}\p{Script=Sogdian}\u0590\u05be\u05c0\u05c3\u05c6\u200f\ufb1d-\ufb4f]/u;
const ARABIC_NUMBER = /[\u0600-\u0605\u0660-\u0669\u066b\u066c\u06dd\u08e2\u{10d30}-\u{10d39}\u{10e60}-\u{10e7e}]/u;
const EUROPEAN_NUMBER = /[0-9\u00b2\u00b3\u00b9\u06f0-\u06f9\u2070-\u2079\u2080-\u2089\u2488-\u249b\uff10-\uff19\u{1d7ce}-\u{1d7ff}]/u;

const foldOne = (c) => {
	if (c === '\u00df' || c === '\u03c2' || c === '\u0131' || CHEROKEE.test(c))
		return c;
	if (SMALL_CHEROKEE.test(c))
		return c.toUpperCase();
	if (c === '\u1e9e')
		return '\u00df';
	if (c === '\u0130')
		return 'i\u0307';
	return [...c.toUpperCase()].map((one) => one.toLowerCase()).join('');
};
const foldAll = (text) => Array.from(text, foldOne).join('');

// What a code point becomes; null if no name may have it.
const mapOne = (c) => {
	if (c <= '\u007f')
		return c.toLowerCase();
	if (IGNORED.test(c))
		return '';
	if (c === '\u3002' || c === '\uff0e' || c === '\uff61')
		return '.';
	if (c === '\u200c' || c === '\u200d')
		return c;
	const mapped = foldAll(foldAll(c.normalize('NFKC')).normalize('NFKC')).normalize('NFC');
	return mapped.includes('.') || (mapped === c ? DISALLOWED.test(c) : /[\p{Cn}\p{Co}\p{Cs}]/u.test(c)) ? null : mapped;
};

const BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700, FIRST = 128, BIAS = 72;
const adapt = (delta, count, first) => {
	let k = 0;
	delta = first ? Math.floor(delta / DAMP) : delta >> 1;
	for (delta += Math.floor(delta / count); delta > ((BASE - T_MIN) * T_MAX) >> 1; k += BASE)
		delta = Math.floor(delta / (BASE - T_MIN));
	return k + Math.floor(((BASE - T_MIN + 1) * delta) / (delta + SKEW));
};
const threshold = (k, bias) => (k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias);

const punycodeDecode = (input) => {
	const at = input.lastIndexOf('-');
	const output = Array.from(at > 0 ? input.slice(0, at) : '', (c) => c.codePointAt(0));
	let n = FIRST, i = 0, bias = BIAS;
	for (let from = at > 0 ? at + 1 : at === 0 ? 1 : 0; from < input.length;) {
		const before = i;
		for (let weight = 1, k = BASE; ; k += BASE) {
			const c = from < input.length ? input.charCodeAt(from++) : 0;
			const digit = c >= 48 && c <= 57 ? c - 22 : c >= 97 && c <= 122 ? c - 97 : c >= 65 && c <= 90 ? c - 65 : -1;
			if (digit < 0)
				return null;
			i += digit * weight;
			if (i > 0x7fffffff)
				return null;
			const t = threshold(k, bias);
			if (digit < t)
				break;
			weight *= BASE - t;
		}
		bias = adapt(i - before, output.length + 1, before === 0);
		n += Math.floor(i / (output.length + 1));
		i %= output.length + 1;
		if (n > 0x10ffff || (n >= 0xd800 && n <= 0xdfff))
			return null;
		output.splice(i++, 0, n);
	}
	return String.fromCodePoint(...output);
};

const punycodeEncode = (text) => {
	const input = Array.from(text, (c) => c.codePointAt(0));
	let output = input.filter((c) => c < FIRST).map((c) => String.fromCharCode(c)).join('');
	const basic = output.length;
	let n = FIRST, delta = 0, bias = BIAS, done = basic;
	output += basic ? '-' : '';
	while (done < input.length) {
		const next = Math.min(...input.filter((c) => c >= n));
		delta += (next - n) * (done + 1);
		n = next;
		for (const c of input) {
			delta += c < n;
			if (c !== n)
				continue;
			let q = delta;
			for (let k = BASE; ; k += BASE) {
				const t = threshold(k, bias), digit = q < t ? q : t + ((q - t) % (BASE - t));
				output += String.fromCharCode(digit + (digit < 26 ? 97 : 22));
				if (q < t)
					break;
				q = Math.floor((q - t) / (BASE - t));
			}
			bias = adapt(delta, done + 1, done === basic);
			delta = 0;
			done++;
		}
		delta++;
		n++;
	}
	return output;
};

const bidiClass = (c) => {
	if (ARABIC_NUMBER.test(c))
		return 'AN';
	if (/[\p{Mn}\p{Me}]/u.test(c))
		return 'NSM';
	if (EUROPEAN_NUMBER.test(c))
		return 'EN';
	if (RTL.test(c))
		return 'R';
	return /[\p{L}\p{Mc}\p{Nl}\p{Nd}]/u.test(c) ? 'L' : 'ON';
};

const isBidiLabel = (label) => {
	const classes = Array.from(label, bidiClass), set = new Set(classes);
	const last = classes.findLast((one) => one !== 'NSM');
	if (classes[0] === 'R')
		return !set.has('L') && ['R', 'EN', 'AN'].includes(last) && !(set.has('EN') && set.has('AN'));
	return classes[0] === 'L' && !set.has('R') && !set.has('AN') && ['L', 'EN'].includes(last);
};

// Joiners are allowed after a virama; U+200C also between letters that join.
const hasGoodJoiners = (label) => {
	const all = [...label];
	return all.every((c, i) => {
		if ((c !== '\u200c' && c !== '\u200d') || (i > 0 && VIRAMA.test(all[i - 1])))
			return true;
		const passes = (one) => /[\p{Mn}\p{Me}\p{Cf}]/u.test(one) && one !== '\u200c';
		const before = all.slice(0, i).findLast((one) => !passes(one)), after = all.slice(i + 1).find((one) => !passes(one));
		return c === '\u200c' && before !== undefined && after !== undefined && JOINING.test(before) &&
			!JOINS_ONE_SIDE.test(before) && JOINING.test(after) && after !== '\u0621';
	});
};

const isValidLabel = (label) =>
	label === label.normalize('NFC') && !label.startsWith('xn--') && !MARK.test(label) && !label.includes('.') &&
	Array.from(label).every((c) => mapOne(c) === c) && hasGoodJoiners(label);

// The ASCII form, or null.
const domainToASCII = (domain) => {
	// eslint-disable-next-line no-control-regex
	if (/^[\0-\x7f]*$/.test(domain))
		return domain.toLowerCase();
	let mapped = '';
	for (const c of domain) {
		const one = mapOne(c);
		if (one === null)
			return null;
		mapped += one;
	}
	const labels = [];
	for (const label of mapped.normalize('NFC').split('.')) {
		const isEncoded = label.startsWith('xn--');
		const plain = isEncoded ? punycodeDecode(label.slice(4)) : label;
		if (plain === null || (isEncoded && (plain === '' || /^[\0-\x7f]*$/.test(plain))) || (plain !== '' && !isValidLabel(plain)))
			return null;
		labels.push(plain);
	}
	const isBidi = labels.some((label) => Array.from(label).some((c) => ['R', 'AN'].includes(bidiClass(c))));
	if (isBidi && !labels.every((label) => label === '' || isBidiLabel(label)))
		return null;
	return labels.map((label) => (/^[\0-\x7f]*$/.test(label) ? label : `xn--${punycodeEncode(label)}`)).join('.');
};
