/* UTF-8 as the WHATWG encoding standard reads it, and decompression, for the classes of web/. */
#include <brotli/decode.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "runtime/js/web.h"

/* --- UTF-8 --- */

/* The length of the sequence that begins with @first, and the range of its second byte. 0: none begins so. */
static unsigned sequence(uint8_t first, uint8_t *ret_low, uint8_t *ret_high) {
	*ret_low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	*ret_high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
	if (first < 0x80)
		return 1;
	return first >= 0xc2 && first <= 0xdf   ? 2
	       : first >= 0xe0 && first <= 0xef ? 3
	       : first >= 0xf0 && first <= 0xf4 ? 4
						: 0;
}

/* How many bytes at @at are a character, or the beginning of one; *ret_whole: all of it is there. A byte that begins
 * none counts 1. */
static size_t take(const uint8_t *at, size_t n, bool *ret_whole) {
	uint8_t low, high;
	const unsigned length = sequence(at[0], &low, &high);
	size_t i = 1;
	while (i < length && i < n && at[i] >= (i == 1 ? low : 0x80) && at[i] <= (i == 1 ? high : 0xbf))
		i++;
	*ret_whole = length && i == length;
	return i;
}

static size_t count_ascii(const uint8_t *bytes, size_t n) {
	size_t i = 0;
	for (uint64_t word; i + sizeof word <= n; i += sizeof word) {
		memcpy(&word, bytes + i, sizeof word);
		if (word & 0x8080808080808080ull)
			break;
	}
	while (i < n && bytes[i] < 0x80)
		i++;
	return i;
}

static bool is_utf8(const uint8_t *bytes, size_t n) {
	bool whole = true;
	for (size_t i = 0; i < n && whole; i += i < n ? take(bytes + i, n - i, &whole) : 0)
		i += count_ascii(bytes + i, n - i);
	return whole;
}

static bool read_bytes(JSContext *ctx, JSValueConst value, const uint8_t **ret, size_t *ret_n) {
	*ret = JS_GetUint8Array(ctx, ret_n, value);
	return *ret;
}

/* utf8Encode(text without lone surrogates) */
static JSValue encode(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	size_t n;
	const char *text = JS_ToCStringLen(ctx, &n, argv[0]);
	if (!text)
		return JS_EXCEPTION;
	JSValue bytes = JS_NewUint8ArrayCopy(ctx, (const uint8_t *)text, n);
	JS_FreeCString(ctx, text);
	return bytes;
}

static JSValue replace(JSContext *ctx, const uint8_t *bytes, size_t n) {
	gb_auto_buf struct gb_buf out;
	bool whole;
	gb_buf_init(&out, SIZE_MAX);
	for (size_t i = 0, length; i < n; i += length) {
		length = take(bytes + i, n - i, &whole);
		gb_buf_append(&out, whole ? (const char *)bytes + i : "\xef\xbf\xbd", whole ? length : 3);
	}
	return gb_buf_failed(&out) ? JS_ThrowOutOfMemory(ctx) : JS_NewStringLen(ctx, out.data, out.len);
}

/* utf8Decode(bytes, fatal): the text; null if @fatal and they are not UTF-8. */
static JSValue decode(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	const uint8_t *bytes;
	size_t n;
	if (!read_bytes(ctx, argv[0], &bytes, &n))
		return JS_EXCEPTION;
	if (is_utf8(bytes, n))
		return JS_NewStringLen(ctx, (const char *)bytes, n);
	return argc > 1 && JS_ToBool(ctx, argv[1]) ? JS_NULL : replace(ctx, bytes, n);
}

/* utf8Tail(bytes): how many bytes at the end are the beginning of a character. */
static JSValue tail(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	const uint8_t *bytes;
	size_t n;
	bool whole;
	if (!read_bytes(ctx, argv[0], &bytes, &n))
		return JS_EXCEPTION;
	for (size_t back = n < 3 ? n : 3; back; back--) {
		const uint8_t first = bytes[n - back];
		uint8_t low, high;
		if (first >= 0xc2 && sequence(first, &low, &high) > back &&
		    take(bytes + n - back, back, &whole) == back)
			return JS_NewUint32(ctx, (uint32_t)back);
	}
	return JS_NewUint32(ctx, 0);
}

/* --- decompression --- */

enum { INFLATE_PIECE = 64 << 10, FORMAT_BROTLI = 0, FORMAT_GZIP = 1, FORMAT_ZLIB = 2, FORMAT_DEFLATE = 3 };

struct inflater {
	int format;
	bool over;
	z_stream zlib;
	BrotliDecoderState *brotli;
	uint8_t *input;
	size_t n, at;
};

static JSClassID inflater_class;

static void finalize(JSRuntime *runtime, JSValueConst value) {
	struct inflater *inflater = JS_GetOpaque(value, inflater_class);
	if (!inflater)
		return;
	if (inflater->format == FORMAT_BROTLI)
		BrotliDecoderDestroyInstance(inflater->brotli);
	else
		inflateEnd(&inflater->zlib);
	js_free_rt(runtime, inflater->input);
	js_free_rt(runtime, inflater);
}

static void *allocate(void *runtime, size_t n) {
	return js_malloc_rt(runtime, n);
}
static void *allocate_items(void *runtime, unsigned count, unsigned size) {
	return js_calloc_rt(runtime, count, size);
}
static void release(void *runtime, void *block) {
	js_free_rt(runtime, block);
}

/* inflater(format): its memory counts as memory of the run. */
static JSValue make_inflater(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	static const int window_bits[] = {
	    [FORMAT_GZIP] = 15 + 16, [FORMAT_ZLIB] = 15, [FORMAT_DEFLATE] = -15};
	JSRuntime *runtime = JS_GetRuntime(ctx);
	int format;
	if (JS_ToInt32(ctx, &format, argv[0]) < 0 || format < FORMAT_BROTLI || format > FORMAT_DEFLATE)
		return JS_EXCEPTION;
	JSValue object = JS_NewObjectClass(ctx, (int)inflater_class);
	struct inflater *inflater = js_mallocz(ctx, sizeof *inflater);
	if (JS_IsException(object) || !inflater)
		return JS_ThrowOutOfMemory(ctx);
	inflater->format = format;
	inflater->zlib.zalloc = allocate_items;
	inflater->zlib.zfree = release;
	inflater->zlib.opaque = runtime;
	const bool made =
	    format == FORMAT_BROTLI
		? (inflater->brotli = BrotliDecoderCreateInstance(allocate, release, runtime)) != NULL
		: inflateInit2(&inflater->zlib, window_bits[format]) == Z_OK;
	if (!made) {
		js_free(ctx, inflater);
		JS_FreeValue(ctx, object);
		return JS_ThrowOutOfMemory(ctx);
	}
	JS_SetOpaque(object, inflater);
	return object;
}

/* Decompress up to a piece. False if the input is malformed. */
static bool step(struct inflater *inflater, uint8_t *piece, size_t *ret_n) {
	size_t in = inflater->n - inflater->at, room = INFLATE_PIECE;
	if (inflater->format == FORMAT_BROTLI) {
		const uint8_t *from = inflater->input + inflater->at;
		uint8_t *to = piece;
		const BrotliDecoderResult how =
		    BrotliDecoderDecompressStream(inflater->brotli, &in, &from, &room, &to, NULL);
		inflater->at = inflater->n - in;
		inflater->over = how == BROTLI_DECODER_RESULT_SUCCESS;
		*ret_n = INFLATE_PIECE - room;
		return how != BROTLI_DECODER_RESULT_ERROR;
	}
	z_stream *zlib = &inflater->zlib;
	zlib->next_in = inflater->input + inflater->at;
	zlib->avail_in = (unsigned)in;
	zlib->next_out = piece;
	zlib->avail_out = (unsigned)room;
	int how = inflate(zlib, Z_NO_FLUSH);
	inflater->at = inflater->n - zlib->avail_in;
	*ret_n = INFLATE_PIECE - zlib->avail_out;
	/* Files of gzip may be joined. */
	if (how == Z_STREAM_END && inflater->format == FORMAT_GZIP && zlib->avail_in)
		how = inflateReset(zlib);
	else if (how == Z_STREAM_END)
		inflater->over = true;
	return how == Z_OK || how == Z_STREAM_END || how == Z_BUF_ERROR;
}

/* inflate(inflater, bytes?): the next piece; null if it needs more bytes, undefined at the end, false if they are
 * malformed. New bytes are only given after null. */
static JSValue inflate_piece(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
	static uint8_t piece[INFLATE_PIECE];
	struct inflater *inflater = JS_GetOpaque2(ctx, argv[0], inflater_class);
	size_t n;
	if (!inflater)
		return JS_EXCEPTION;
	if (argc > 1 && !JS_IsUndefined(argv[1])) {
		const uint8_t *bytes;
		if (!read_bytes(ctx, argv[1], &bytes, &n))
			return JS_EXCEPTION;
		js_free(ctx, inflater->input);
		inflater->at = inflater->n = 0;
		if (!(inflater->input = js_malloc(ctx, n ? n : 1)))
			return JS_EXCEPTION;
		memcpy(inflater->input, bytes, n);
		inflater->n = n;
	}
	if (inflater->over)
		return JS_UNDEFINED;
	if (!step(inflater, piece, &n))
		return JS_FALSE;
	if (n)
		return JS_NewUint8ArrayCopy(ctx, piece, n);
	return inflater->over ? JS_UNDEFINED : JS_NULL;
}

static const JSCFunctionListEntry functions[] = {
    JS_CFUNC_DEF("utf8Encode", 1, encode),
    JS_CFUNC_DEF("utf8Decode", 2, decode),
    JS_CFUNC_DEF("utf8Tail", 1, tail),
    JS_CFUNC_DEF("inflater", 1, make_inflater),
    JS_CFUNC_DEF("inflate", 2, inflate_piece),
    JS_CFUNC_DEF("digest", 2, gb_js_web_digest),
};

bool gb_js_web_add_bytes(JSContext *ctx, JSValueConst native) {
	static const JSClassDef inflater_def = {"Inflater", .finalizer = finalize};
	JSRuntime *runtime = JS_GetRuntime(ctx);
	JS_NewClassID(runtime, &inflater_class);
	if (!JS_IsRegisteredClass(runtime, inflater_class) &&
	    JS_NewClass(runtime, inflater_class, &inflater_def) < 0)
		return false;
	JS_SetPropertyFunctionList(ctx, native, functions, GB_COUNT(functions));
	return true;
}
