#include "store/chain.h"

#include <endian.h>
#include <sodium.h>
#include <string.h>

_Static_assert(GB_PUBLIC_KEY_BYTES == crypto_sign_PUBLICKEYBYTES &&
		   GB_SECRET_KEY_BYTES == crypto_sign_SECRETKEYBYTES &&
		   GB_SIGNATURE_BYTES == crypto_sign_BYTES && GB_HASH_BYTES == crypto_generichash_BYTES,
    "libsodium's sizes");

bool gb_chain_init(struct gb_err *err) {
	return sodium_init() >= 0 || gb_fail(err, GB_ESYSTEM, 0, "libsodium cannot be initialised");
}

void gb_hash_bytes(const void *bytes, size_t n, struct gb_hash *ret) {
	crypto_generichash(ret->bytes, sizeof ret->bytes, bytes, n, NULL, 0);
}

bool gb_hash_eq(const struct gb_hash *a, const struct gb_hash *b) {
	return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

void gb_chain_genesis(const struct gb_chain *chain, struct gb_hash *ret) {
	static const char domain[] = "glovebox audit genesis 1";
	crypto_generichash_state state;
	crypto_generichash_init(&state, NULL, 0, sizeof ret->bytes);
	crypto_generichash_update(&state, (const uint8_t *)domain, sizeof domain);
	crypto_generichash_update(&state, chain->id, sizeof chain->id);
	crypto_generichash_update(&state, chain->public_key, sizeof chain->public_key);
	crypto_generichash_final(&state, ret->bytes, sizeof ret->bytes);
}

void gb_chain_link(
    const struct gb_hash *previous, uint64_t seq, const void *body, size_t n, struct gb_hash *ret) {
	uint64_t number = htobe64(seq);
	crypto_generichash_state state;
	crypto_generichash_init(&state, NULL, 0, sizeof ret->bytes);
	crypto_generichash_update(&state, previous->bytes, sizeof previous->bytes);
	crypto_generichash_update(&state, (const uint8_t *)&number, sizeof number);
	crypto_generichash_update(&state, body, n);
	crypto_generichash_final(&state, ret->bytes, sizeof ret->bytes);
}

struct statement {
	char domain[15];
	uint8_t kind;
	uint8_t chain[GB_CHAIN_ID_BYTES];
	uint64_t seq; /* big endian, as the time */
	uint8_t hash[GB_HASH_BYTES];
	uint64_t time;
};
_Static_assert(sizeof(struct statement) == 16 + GB_CHAIN_ID_BYTES + 8 + GB_HASH_BYTES + 8, "no holes");

static struct statement make_statement(
    const struct gb_mark *mark, enum gb_mark_kind kind, const struct gb_chain *chain) {
	struct statement statement = {.domain = "glovebox mark1", .kind = (uint8_t)kind};
	memcpy(statement.chain, chain->id, sizeof statement.chain);
	statement.seq = htobe64(mark->seq);
	memcpy(statement.hash, mark->hash.bytes, sizeof statement.hash);
	statement.time = htobe64((uint64_t)mark->time_ms);
	return statement;
}

void gb_mark_sign(
    struct gb_mark *mark, enum gb_mark_kind kind, const struct gb_chain *chain, const struct gb_key *key) {
	struct statement statement = make_statement(mark, kind, chain);
	crypto_sign_detached(
	    mark->signature, NULL, (const uint8_t *)&statement, sizeof statement, key->secret);
}

bool gb_mark_check(const struct gb_mark *mark, enum gb_mark_kind kind, const struct gb_chain *chain) {
	struct statement statement = make_statement(mark, kind, chain);
	return crypto_sign_verify_detached(
		   mark->signature, (const uint8_t *)&statement, sizeof statement, chain->public_key) == 0;
}
