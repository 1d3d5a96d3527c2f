// Domain names with other letters than ASCII: UTS #46, not transitional. The mapping is derived from the tables of the
// engine (NFKC, case, properties), as section 7 of UTS #46 derives its own. It equals the table of Unicode 17.

const DISALLOWED = /[\p{Cn}\p{Co}\p{Cs}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\u2fe0-\u2fff\u31ef\ufffc\ufffd]/u;
const IGNORED = /(?![\u061c\u200c-\u200f\u202a-\u202e\u2065-\u2069\ufff0-\ufff8\u{e0000}-\u{e00ff}\u{e01f0}-\u{e0fff}])\p{Default_Ignorable_Code_Point}/u;
const MARK = /^\p{M}/u;
const CHEROKEE = /[\u13a0-\u13f5]/u, SMALL_CHEROKEE = /[\u13f8-\u13fd\uab70-\uabbf]/u;
const VIRAMA = /[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u0e3a\u0eba\u0f84\u1039\u103a\u1714\u1715\u1734\u17d2\u1a60\u1b44\u1baa\u1bab\u1bf2\u1bf3\u2d7f\ua806\ua82c\ua8c4\ua953\ua9c0\uaaf6\uabed\u{10a3f}\u{11046}\u{11070}\u{1107f}\u{110b9}\u{11133}\u{11134}\u{111c0}\u{11235}\u{112ea}\u{1134d}\u{11442}\u{114c2}\u{115bf}\u{1163f}\u{116b6}\u{1172b}\u{11839}\u{1193d}\u{1193e}\u{119e0}\u{11a34}\u{11a47}\u{11a99}\u{11c3f}\u{11d44}\u{11d45}\u{11d97}\u{11f41}\u{11f42}]/u;
// Letters that join to the next one, and to the one before.
const JOINS_NEXT = /[\u0620\u0626\u0628\u062a-\u062e\u0633-\u063f\u0641-\u0647\u0649-\u064a\u066e-\u066f\u0679-\u0687\u069a-\u06bf\u06c1-\u06c2\u06cc\u06ce\u06d0-\u06d1\u06fa-\u06fc\u06ff\u0712-\u0714\u071a-\u071d\u071f-\u0727\u0729\u072b\u072d-\u072e\u074e-\u0758\u075c-\u076a\u076d-\u0770\u0772\u0775-\u0777\u077a-\u077f\u07ca-\u07ea\u0841-\u0845\u0848\u084a-\u0853\u0855\u0860\u0862-\u0865\u0868\u0886\u0889-\u088d\u088f-\u08a9\u08af-\u08b0\u08b3-\u08b8\u08ba-\u08c8\u1807\u1820-\u1878\u1887-\u18aa\ua840-\ua872\u{10ac0}-\u{10ac4}\u{10acd}\u{10ad3}-\u{10adc}\u{10ade}-\u{10ae0}\u{10aeb}-\u{10aee}\u{10b80}\u{10b82}\u{10b86}-\u{10b88}\u{10b8a}-\u{10b8b}\u{10b8d}\u{10b90}\u{10bad}-\u{10bae}\u{10d00}-\u{10d21}\u{10d23}\u{10ec3}-\u{10ec4}\u{10ec6}-\u{10ec7}\u{10f30}-\u{10f32}\u{10f34}-\u{10f44}\u{10f51}-\u{10f53}\u{10f70}-\u{10f73}\u{10f76}-\u{10f81}\u{10fb0}\u{10fb2}-\u{10fb3}\u{10fb8}\u{10fbb}-\u{10fbc}\u{10fbe}-\u{10fbf}\u{10fc1}\u{10fc4}\u{10fca}-\u{10fcb}\u{1e922}-\u{1e943}]/u;
const JOINS_BEFORE = /[\u0620\u0622-\u063f\u0641-\u064a\u066e-\u0673\u0679-\u06d3\u06d5\u06ee-\u06ef\u06fa-\u06fc\u06ff\u0710-\u077f\u07ca-\u07ea\u0840-\u0858\u0860\u0862-\u0865\u0867-\u0882\u0886\u0889-\u08ac\u08ae-\u08c8\u1807\u1820-\u1878\u1887-\u18aa\ua840-\ua871\u{10ac0}-\u{10ac5}\u{10ac7}\u{10ac9}-\u{10aca}\u{10ace}-\u{10ad6}\u{10ad8}-\u{10ae1}\u{10ae4}-\u{10aef}\u{10b80}-\u{10b91}\u{10ba9}-\u{10bae}\u{10d01}-\u{10d23}\u{10ec2}-\u{10ec4}\u{10ec6}-\u{10ec7}\u{10f30}-\u{10f44}\u{10f51}-\u{10f54}\u{10f70}-\u{10f81}\u{10fb0}\u{10fb2}-\u{10fb6}\u{10fb8}-\u{10fbf}\u{10fc1}-\u{10fc4}\u{10fc9}-\u{10fca}\u{1e922}-\u{1e943}]/u;
// Bidirectional classes of letters that names may have. The ranges also have code points that names may not have.
const RTL = /[\u05be-\u05f4\u0608\u060b\u060d\u061b-\u064a\u066d-\u06d5\u06e5-\u06e6\u06ee-\u07f5\u07fa-\u08c9\ufbb2-\ufbc2\ufe73\u{10800}-\u{1091b}\u{10920}-\u{10b35}\u{10b40}-\u{10ff6}\u{1e800}-\u{1ed3d}]/u;
const ARABIC_NUMBER = /[\u0660-\u0669\u066b\u066c\u{10d30}-\u{10d39}\u{10e60}-\u{10e7e}]/u;
const EUROPEAN_NUMBER = /[0-9\u06f0-\u06f9\u{102e1}-\u{102fb}\u{1fbf0}-\u{1fbf9}]/u;
const LTR_MARK = /[\u0cbf\u0cc6\u{11a07}\u{11a08}\u{11c3f}]/u;
const NEUTRAL = /[\0-`{-~\u00a1-\u00d7\u00f7\u02b9-\u02ba\u02c2-\u02cf\u02d2-\u02ed\u02ef-\u02ff\u0375\u03f6\u058a-\u07f9\u09f2-\u09f3\u09fb\u0af1\u0bf3-\u0bfa\u0c78-\u0c7e\u0e3f\u0f3a-\u0f3d\u1390-\u1399\u1400\u169b-\u169c\u17db\u17f0-\u180a\u1940-\u1945\u19de-\u19ff\u200c-\u214d\u218a-\u2335\u237b-\u2394\u2396-\u26ab\u26ad-\u27ff\u2900-\u2bff\u2ce5-\u2cea\u2cf9-\u2cff\u2e00-\u3004\u3008-\u3020\u3030\u3037\u303d-\u303f\u30a0\u30fb\u31c0-\u31e3\u4dc0-\u4dff\ua490-\ua4c6\ua60d-\ua60f\ua673-\ua67f\ua700-\ua721\ua788\ua828-\ua82b\ua838-\ua839\ua874-\ua877\uab6a-\uab6b\ufd3e-\ufe46\u{10101}\u{10140}-\u{1018c}\u{10190}-\u{101a0}\u{1091f}-\u{10b3f}\u{11052}-\u{11065}\u{11660}-\u{1166c}\u{11fd5}-\u{11ff1}\u{16fe2}\u{1d1e9}-\u{1d245}\u{1d300}-\u{1d356}\u{1e2ff}\u{1eef0}-\u{1f12f}\u{1f16d}-\u{1f16f}\u{1f1ad}\u{1f260}-\u{1fbca}]/u;

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
	if (c === '\u03c2')
		return c;
	const mapped = foldAll(foldAll(c.normalize('NFKC')).normalize('NFKC')).normalize('NFC').replaceAll('\u03c2', '\u03c3');
	return /[.\u3002]/.test(mapped) || (mapped === c ? DISALLOWED.test(c) : /[\p{Cn}\p{Co}\p{Cs}]/u.test(c)) ? null : mapped;
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
	if (EUROPEAN_NUMBER.test(c))
		return 'EN';
	if (/[\p{Mn}\p{Me}]/u.test(c))
		return LTR_MARK.test(c) ? 'L' : 'NSM';
	if (RTL.test(c))
		return 'R';
	return NEUTRAL.test(c) ? 'ON' : 'L';
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
		const passes = (one) => /[\p{Mn}\p{Me}]/u.test(one);
		const before = all.slice(0, i).findLast((one) => !passes(one)), after = all.slice(i + 1).find((one) => !passes(one));
		return c === '\u200c' && before !== undefined && after !== undefined && JOINS_NEXT.test(before) && JOINS_BEFORE.test(after);
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
