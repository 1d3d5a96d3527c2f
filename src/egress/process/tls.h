/*
 * TLS of connections that are intercepted: towards the code with certificates of an authority of this process, towards
 * servers with a check of theirs. Bytes are exchanged by the caller:
 *
 *	tls_put(tls, received, n);		// from the socket
 *	tls_handshake(tls), tls_read(tls, ...), tls_write(tls, ...);
 *	tls_take(tls, &out);			// to the socket
 */
#ifndef GB_EGRESS_PROCESS_TLS_H
#define GB_EGRESS_PROCESS_TLS_H

#include "base/buf.h"
#include "egress/rules.h"

struct tls;
struct x509_store_st; /* of OpenSSL */

/* Make the authority, and open the file of those that servers are checked against. Before the wall. @authorities: path
 * of a file with more of them, or NULL. */
bool tls_init(const char *authorities, const char **ret_problem);
/* The certificate of the authority of this process, and those that were added, as PEM. */
struct gb_str tls_authority(void);

/* The authorities that servers are checked with, which stay this module's; NULL if there are none. */
struct x509_store_st *tls_authorities(void);

/* The end towards the code, in the name of @host; NULL if there is no memory. */
struct tls *tls_accept(const struct gb_host *host);
/* The end towards the server @host. NULL, and *ret_problem says why, if servers cannot be checked. */
struct tls *tls_connect(const struct gb_host *host, const char **ret_problem);
/* NULL is fine. */
void tls_destroy(struct tls *tls);

enum tls_result { TLS_OK, TLS_MORE, TLS_END, TLS_BAD };
void tls_put(struct tls *tls, const char *bytes, size_t n);
enum tls_result tls_handshake(struct tls *tls);
bool tls_is_open(const struct tls *tls);
enum tls_result tls_read(struct tls *tls, char *to, size_t size, size_t *ret_n);
bool tls_write(struct tls *tls, const char *bytes, size_t n);
/* Say that nothing follows. */
void tls_close(struct tls *tls);
void tls_take(struct tls *tls, struct gb_buf *out);
/* After TLS_BAD: why. */
const char *tls_problem(const struct tls *tls);

#endif
