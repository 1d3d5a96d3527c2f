/*
 * How records are linked and what is signed.
 *
 *	hash 0 = BLAKE2b(chain id, public key)			the genesis
 *	hash n = BLAKE2b(hash n-1, n, bytes of record n)
 *
 * A mark is a signed statement about one position in the chain. There are four kinds, and the signature
 * covers the kind: a checkpoint (periodically, and at close), the head (the newest record, in the database),
 * the head in the file beside the database, and the start (the last record that was pruned).
 */
#ifndef GB_STORE_CHAIN_H
#define GB_STORE_CHAIN_H

#include "store/record.h"

enum { GB_CHAIN_ID_BYTES = 16, GB_PUBLIC_KEY_BYTES = 32, GB_SECRET_KEY_BYTES = 64, GB_SIGNATURE_BYTES = 64 };

struct gb_chain {
	uint8_t id[GB_CHAIN_ID_BYTES];
	uint8_t public_key[GB_PUBLIC_KEY_BYTES];
};

struct gb_key {
	uint8_t secret[GB_SECRET_KEY_BYTES];
	uint8_t public_key[GB_PUBLIC_KEY_BYTES];
};

enum gb_mark_kind { GB_MARK_CHECKPOINT = 1, GB_MARK_HEAD, GB_MARK_HEAD_FILE, GB_MARK_START };

struct gb_mark {
	uint64_t seq;
	struct gb_hash hash; /* of that record; of the genesis for 0 */
	int64_t time_ms;
	uint8_t signature[GB_SIGNATURE_BYTES];
};

/* Call before any other function here; may be called again. */
bool gb_chain_init(struct gb_err *err);

/* BLAKE2b-256 of any bytes; also used for .input_hash and .output_hash. */
void gb_hash_bytes(const void *bytes, size_t n, struct gb_hash *ret);
bool gb_hash_eq(const struct gb_hash *a, const struct gb_hash *b);

void gb_chain_genesis(const struct gb_chain *chain, struct gb_hash *ret);
void gb_chain_link(
    const struct gb_hash *previous, uint64_t seq, const void *body, size_t n, struct gb_hash *ret);

void gb_mark_sign(
    struct gb_mark *mark, enum gb_mark_kind kind, const struct gb_chain *chain, const struct gb_key *key);
bool gb_mark_check(const struct gb_mark *mark, enum gb_mark_kind kind, const struct gb_chain *chain);

/* --- the key (key.c): a file of mode 0600 that only its owner can read --- */

/* GB_ENOENT if the file does not exist. */
bool gb_key_load(int dir, const char *name, struct gb_key *ret_key, struct gb_err *err);
/* The same for any owner and mode: to compare the key, not to sign with it. */
bool gb_key_read(int dir, const char *name, struct gb_key *ret_key, struct gb_err *err);
/* Create a key; it is on the disk when this returns. */
bool gb_key_create(int dir, const char *name, struct gb_key *ret_key, struct gb_err *err);
void gb_key_wipe(struct gb_key *key);

#endif
