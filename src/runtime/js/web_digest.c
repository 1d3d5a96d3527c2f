/* SHA-256, SHA-384 and SHA-512 (FIPS 180-4), for the integrity of a fetch. */
#include <string.h>

#include "runtime/js/web.h"

/* The fractional parts of the cube roots of the first 80 primes: SHA-256 uses the upper halves of 64 of them. */
static const uint64_t rounds[80] = {0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f,
    0xe9b5dba58189dbbc, 0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f,
    0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3,
    0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65, 0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4,
    0x76f988da831153b5, 0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc,
    0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8,
    0x81c2c92e47edaee6, 0x92722c851482353b, 0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791,
    0xc76c51a30654be30, 0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63,
    0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60,
    0x84c87814a1f0ab72, 0x8cc702081a6439ec, 0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915,
    0xc67178f2e372532b, 0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84,
    0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a,
    0x5fcb6fab3ad6faec, 0x6c44198c4a475817};

/* The two functions differ in the width of a word. */
struct digest {
	unsigned n_rounds, word, block;
	uint8_t big[6], small[6]; /* rotations; the last of three small ones is a shift */
	uint64_t state[8];
};

static const uint64_t start_512[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
    0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
static const uint64_t start_384[8] = {0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17,
    0x152fecd8f70e5939, 0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4};

static const struct digest sha256 = {
    .n_rounds = 64, .word = 4, .block = 64, .big = {2, 13, 22, 6, 11, 25}, .small = {7, 18, 3, 17, 19, 10}};
static const struct digest sha512 = {
    .n_rounds = 80, .word = 8, .block = 128, .big = {28, 34, 39, 14, 18, 41}, .small = {1, 8, 7, 19, 61, 6}};

static uint64_t rotate(const struct digest *d, uint64_t x, unsigned n) {
	return d->word == 4 ? (uint32_t)x >> n | (uint32_t)x << (32 - n) : x >> n | x << (64 - n);
}

static uint64_t big(const struct digest *d, uint64_t x, unsigned which) {
	const uint8_t *n = d->big + (size_t)3 * which;
	return rotate(d, x, n[0]) ^ rotate(d, x, n[1]) ^ rotate(d, x, n[2]);
}

static uint64_t small(const struct digest *d, uint64_t x, unsigned which) {
	const uint8_t *n = d->small + (size_t)3 * which;
	return rotate(d, x, n[0]) ^ rotate(d, x, n[1]) ^ x >> n[2];
}

static void add_block(struct digest *d, const uint8_t *bytes) {
	const uint64_t mask = d->word == 4 ? UINT32_MAX : UINT64_MAX;
	uint64_t w[80] = {0}, s[8];
	for (unsigned i = 0; i < 16; i++)
		for (unsigned j = 0; j < d->word; j++)
			w[i] = w[i] << 8 | bytes[i * d->word + j];
	for (unsigned i = 16; i < d->n_rounds; i++)
		w[i] = (small(d, w[i - 2], 1) + w[i - 7] + small(d, w[i - 15], 0) + w[i - 16]) & mask;
	memcpy(s, d->state, sizeof s);
	for (unsigned i = 0; i < d->n_rounds; i++) {
		const uint64_t k = d->word == 4 ? rounds[i] >> 32 : rounds[i];
		const uint64_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
		const uint64_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
		const uint64_t one = s[7] + big(d, s[4], 1) + choice + k + w[i];
		const uint64_t two = big(d, s[0], 0) + majority;
		memmove(s + 1, s, 7 * sizeof *s);
		s[4] = (s[4] + one) & mask;
		s[0] = (one + two) & mask;
	}
	for (unsigned i = 0; i < 8; i++)
		d->state[i] = (d->state[i] + s[i]) & mask;
}

static void finish(struct digest *d, const uint8_t *rest, size_t n, uint64_t total) {
	uint8_t last[2 * 128] = {0};
	const size_t block = d->block, length = n + 1 + 2 * (size_t)d->word <= block ? block : 2 * block;
	if (n)
		memcpy(last, rest, n);
	last[n] = 0x80;
	for (unsigned i = 0; i < 8; i++)
		last[length - 1 - i] = (uint8_t)(total * 8 >> 8 * i);
	for (size_t at = 0; at < length; at += d->block)
		add_block(d, last + at);
}

static struct digest begin(uint32_t bits) {
	struct digest d = bits == 256 ? sha256 : sha512;
	for (unsigned i = 0; i < 8; i++)
		d.state[i] = bits == 384 ? start_384[i] : bits == 512 ? start_512[i] : start_512[i] >> 32;
	return d;
}

/* digest(bits, bytes): 256, 384 or 512 */
JSValue gb_js_web_digest(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	uint8_t out[64];
	uint32_t bits;
	size_t n;
	if (JS_ToUint32(ctx, &bits, argv[0]) < 0)
		return JS_EXCEPTION;
	const uint8_t *bytes = JS_GetUint8Array(ctx, &n, argv[1]);
	if (!bytes)
		return JS_EXCEPTION;
	struct digest d = begin(bits);
	size_t at = 0;
	for (; n - at >= d.block; at += d.block)
		add_block(&d, bytes + at);
	finish(&d, bytes + at, n - at, n);
	for (unsigned i = 0; i < bits / 8; i++)
		out[i] = (uint8_t)(d.state[i / d.word] >> 8 * (d.word - 1 - i % d.word));
	return JS_NewUint8ArrayCopy(ctx, out, bits / 8);
}
