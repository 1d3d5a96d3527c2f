#include "egress/process/tls.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "egress/protocol.h"

enum {
	DAY = 24 * 60 * 60,
	AUTHORITY_DAYS = 3650, /* it ends with the process */
	HOST_DAYS = 397,
	RENEW_DAYS = 180,
	LEAVES_MAX = 1024,
	BUNDLE_MAX = 4 << 20,
	SERIAL_BYTES = 16,
};

struct tls {
	SSL *ssl;
	BIO *in, *out; /* owned by ssl */
	char problem[100];
};

/* The certificate of a host, made when it is needed. */
struct leaf {
	char name[GB_HOST_NAME_MAX + 3];
	X509 *certificate;
	time_t made;
};

static struct {
	EVP_PKEY *key, *leaf_key;
	X509 *certificate;
	char pem[GB_EGRESS_AUTHORITY_MAX];
	size_t pem_n;
	SSL_CTX *server, *client;
	int bundle; /* of the system; read when it is needed */
	bool is_trusting;
	struct leaf leaves[LEAVES_MAX];
	unsigned n_leaves, next_leaf;
} tls = {.bundle = -1};

/* --- certificates --- */

static bool add_extension(X509 *certificate, X509 *issuer, int nid, const char *value) {
	X509V3_CTX context;
	X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	const bool added = extension && X509_add_ext(certificate, extension, -1) == 1;
	X509_EXTENSION_free(extension);
	return added;
}

static bool set_serial(X509 *certificate) {
	unsigned char bytes[SERIAL_BYTES];
	if (RAND_bytes(bytes, sizeof bytes) != 1)
		return false;
	bytes[0] &= 0x7f;
	BIGNUM *number = BN_bin2bn(bytes, sizeof bytes, NULL);
	const bool set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
	BN_free(number);
	return set;
}

/* A certificate without extensions; NULL if it cannot be made. */
static X509 *begin_certificate(const char *name, EVP_PKEY *key, int days) {
	X509 *certificate = X509_new();
	X509_NAME *subject = certificate ? X509_get_subject_name(certificate) : NULL;
	if (subject && X509_set_version(certificate, 2) == 1 && set_serial(certificate) &&
	    X509_NAME_add_entry_by_txt(
		subject, "CN", MBSTRING_UTF8, (const unsigned char *)name, -1, -1, 0) == 1 &&
	    X509_gmtime_adj(X509_getm_notBefore(certificate), -DAY) &&
	    X509_gmtime_adj(X509_getm_notAfter(certificate), (long)days * DAY) &&
	    X509_set_pubkey(certificate, key) == 1)
		return certificate;
	X509_free(certificate);
	return NULL;
}

static bool make_authority(void) {
	tls.key = EVP_EC_gen("P-256");
	tls.leaf_key = EVP_EC_gen("P-256");
	X509 *made = tls.key && tls.leaf_key
			 ? begin_certificate("Glovebox interception authority", tls.key, AUTHORITY_DAYS)
			 : NULL;
	tls.certificate = made;
	BIO *pem = BIO_new(BIO_s_mem());
	const bool ok = made && pem && X509_set_issuer_name(made, X509_get_subject_name(made)) == 1 &&
			add_extension(made, made, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
			add_extension(made, made, NID_key_usage, "critical,keyCertSign,cRLSign") &&
			add_extension(made, made, NID_subject_key_identifier, "hash") &&
			X509_sign(made, tls.key, EVP_sha256()) > 0 && PEM_write_bio_X509(pem, made) == 1;
	const int n = ok ? BIO_read(pem, tls.pem, GB_EGRESS_AUTHORITY_MAX) : 0;
	BIO_free(pem);
	tls.pem_n = n > 0 ? (size_t)n : 0;
	return n > 0;
}

struct gb_str tls_authority(void) {
	return (struct gb_str){tls.pem, tls.pem_n};
}

/* A long name does not fit into the subject, which nothing compares. */
static X509 *make_leaf(const struct gb_host *host) {
	char names[sizeof host->name + 8];
	X509 *made = begin_certificate(
	    strlen(host->name) <= 64 ? host->name : "intercepted host", tls.leaf_key, HOST_DAYS);
	snprintf(names, sizeof names, "%s:%s", host->kind == GB_HOST_NAME ? "DNS" : "IP", host->name);
	if (made && X509_set_issuer_name(made, X509_get_subject_name(tls.certificate)) == 1 &&
	    add_extension(made, tls.certificate, NID_basic_constraints, "critical,CA:FALSE") &&
	    add_extension(made, tls.certificate, NID_key_usage, "critical,digitalSignature") &&
	    add_extension(made, tls.certificate, NID_ext_key_usage, "serverAuth") &&
	    add_extension(made, tls.certificate, NID_authority_key_identifier, "keyid") &&
	    add_extension(made, tls.certificate, NID_subject_alt_name, names) &&
	    X509_sign(made, tls.key, EVP_sha256()) > 0)
		return made;
	X509_free(made);
	return NULL;
}

static X509 *leaf_of(const struct gb_host *host) {
	const time_t now = time(NULL);
	struct leaf *leaf = NULL;
	for (unsigned i = 0; i < tls.n_leaves && !leaf; i++)
		if (strcmp(tls.leaves[i].name, host->name) == 0)
			leaf = &tls.leaves[i];
	if (leaf && now - leaf->made < (time_t)RENEW_DAYS * DAY)
		return leaf->certificate;
	X509 *made = make_leaf(host);
	if (!made)
		return NULL;
	if (!leaf && tls.n_leaves < LEAVES_MAX)
		leaf = &tls.leaves[tls.n_leaves++];
	else if (!leaf)
		leaf = &tls.leaves[tls.next_leaf++ % LEAVES_MAX];
	X509_free(leaf->certificate);
	*leaf = (struct leaf){.certificate = made, .made = now};
	snprintf(leaf->name, sizeof leaf->name, "%s", host->name);
	return made;
}

/* --- contexts --- */

/* HTTP/1.1 is what is read here: a client that offers protocols gets this one or none. */
static int choose_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_n,
    const unsigned char *offered, unsigned n, void *data) {
	static const unsigned char http[] = "\x08http/1.1";
	(void)ssl;
	(void)data;
	return SSL_select_next_proto((unsigned char **)ret, ret_n, http, sizeof http - 1, offered, n) ==
		       OPENSSL_NPN_NEGOTIATED
		   ? SSL_TLSEXT_ERR_OK
		   : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static SSL_CTX *make_context(const SSL_METHOD *method) {
	SSL_CTX *context = SSL_CTX_new(method);
	if (!context)
		return NULL;
	SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
	SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	return context;
}

/* The authorities that the owner has added: servers may have certificates of them, and cells are told of them. Only
 * certificates are passed on, whatever else the file has. */
static const char *add_own(const char *path) {
	BIO *file = BIO_new_file(path, "r"), *pem = BIO_new(BIO_s_mem());
	X509_STORE *store = SSL_CTX_get_cert_store(tls.client);
	const char *problem = !file ? "cannot read the file of network.authorities" : NULL;
	unsigned n = 0;
	for (X509 *one; file && pem && (one = PEM_read_bio_X509(file, NULL, NULL, NULL)); n++) {
		X509_STORE_add_cert(store, one);
		PEM_write_bio_X509(pem, one);
		X509_free(one);
	}
	char *text = NULL;
	const long size = pem ? BIO_get_mem_data(pem, &text) : 0;
	if (!problem && n == 0)
		problem = "the file of network.authorities has no certificate in PEM format";
	else if (!problem && tls.pem_n + (size_t)size > sizeof tls.pem)
		problem = "the certificates of network.authorities are longer than 60 KiB";
	if (!problem) {
		memcpy(tls.pem + tls.pem_n, text, (size_t)size);
		tls.pem_n += (size_t)size;
		tls.is_trusting = true;
	}
	BIO_free(file);
	BIO_free(pem);
	ERR_clear_error();
	return problem;
}

bool tls_init(const char *authorities, const char **ret_problem) {
	static const unsigned char http[] = "\x08http/1.1";
	*ret_problem = "make the authority of intercepted connections";
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1 || !make_authority())
		return false;
	tls.server = make_context(TLS_server_method());
	tls.client = make_context(TLS_client_method());
	if (!tls.server || !tls.client || SSL_CTX_set_alpn_protos(tls.client, http, sizeof http - 1) != 0)
		return false;
	SSL_CTX_set_alpn_select_cb(tls.server, choose_protocol, NULL);
	SSL_CTX_set_verify(tls.client, SSL_VERIFY_PEER, NULL);
	const char *problem = authorities ? add_own(authorities) : NULL;
	if (problem) {
		*ret_problem = problem;
		return false;
	}
	/* Without it no server of an intercepted host is trusted, except those of authorities that were added. */
	tls.bundle = open(X509_get_default_cert_file(), O_RDONLY | O_CLOEXEC);
	if (tls.bundle < 0)
		tls.bundle = open("/etc/ssl/certs/ca-certificates.crt", O_RDONLY | O_CLOEXEC);
	return true;
}

/* --- authorities of servers --- */

static bool read_file(int fd, struct gb_buf *to) {
	gb_buf_init(to, BUNDLE_MAX);
	if (lseek(fd, 0, SEEK_SET) != 0)
		return false;
	for (;;) {
		char *room = gb_buf_reserve(to, 64 << 10);
		const ssize_t n = room ? read(fd, room, 64 << 10) : -1;
		if (n <= 0)
			return n == 0;
		to->len += (size_t)n;
	}
}

static bool add_authorities(int fd) {
	gb_auto_buf struct gb_buf text;
	X509_STORE *store = SSL_CTX_get_cert_store(tls.client);
	unsigned n = 0;
	BIO *pem = read_file(fd, &text) && text.len ? BIO_new_mem_buf(text.data, (int)text.len) : NULL;
	for (X509 *one; pem && (one = PEM_read_bio_X509(pem, NULL, NULL, NULL)); n++) {
		X509_STORE_add_cert(store, one);
		X509_free(one);
	}
	BIO_free(pem);
	ERR_clear_error();
	return n > 0;
}

struct x509_store_st *tls_authorities(void) {
	if (tls.bundle >= 0) {
		tls.is_trusting |= add_authorities(tls.bundle);
		gb_close_fd(&tls.bundle);
	}
	return tls.is_trusting ? SSL_CTX_get_cert_store(tls.client) : NULL;
}

/* --- connections --- */

static struct tls *make(SSL_CTX *context) {
	struct tls *one = calloc(1, sizeof *one);
	if (!one)
		return NULL;
	one->ssl = SSL_new(context);
	one->in = BIO_new(BIO_s_mem());
	one->out = BIO_new(BIO_s_mem());
	if (!one->ssl || !one->in || !one->out) {
		SSL_free(one->ssl);
		BIO_free(one->in);
		BIO_free(one->out);
		free(one);
		return NULL;
	}
	BIO_set_mem_eof_return(one->in, -1);
	BIO_set_mem_eof_return(one->out, -1);
	SSL_set_bio(one->ssl, one->in, one->out);
	return one;
}

struct tls *tls_accept(const struct gb_host *host) {
	X509 *leaf = leaf_of(host);
	struct tls *one = leaf ? make(tls.server) : NULL;
	if (!one)
		return NULL;
	if (SSL_use_certificate(one->ssl, leaf) == 1 && SSL_use_PrivateKey(one->ssl, tls.leaf_key) == 1) {
		SSL_set_accept_state(one->ssl);
		return one;
	}
	tls_destroy(one);
	return NULL;
}

static bool set_expected(SSL *ssl, const struct gb_host *host) {
	X509_VERIFY_PARAM *expected = SSL_get0_param(ssl);
	X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (host->kind == GB_HOST_NAME)
		return X509_VERIFY_PARAM_set1_host(expected, host->name, 0) == 1 &&
		       SSL_set_tlsext_host_name(ssl, host->name) == 1;
	return X509_VERIFY_PARAM_set1_ip(expected, host->address, host->kind == GB_HOST_IPV4 ? 4 : 16) == 1;
}

struct tls *tls_connect(const struct gb_host *host, const char **ret_problem) {
	*ret_problem =
	    "there are no certificate authorities to check the server with: install ca-certificates";
	(void)tls_authorities();
	struct tls *one = make(tls.client);
	if (!one)
		*ret_problem = "there is no memory";
	if (one && set_expected(one->ssl, host)) {
		SSL_set_connect_state(one->ssl);
		return one;
	}
	tls_destroy(one);
	return NULL;
}

void tls_destroy(struct tls *one) {
	if (!one)
		return;
	SSL_free(one->ssl);
	free(one);
}

void tls_put(struct tls *one, const char *bytes, size_t n) {
	if (n <= INT_MAX)
		BIO_write(one->in, bytes, (int)n);
}

static enum tls_result result_of(struct tls *one, int got) {
	const int error = SSL_get_error(one->ssl, got);
	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
		return TLS_MORE;
	if (error == SSL_ERROR_ZERO_RETURN)
		return TLS_END;
	const long verified = SSL_get_verify_result(one->ssl);
	const char *reason = verified != X509_V_OK ? X509_verify_cert_error_string(verified)
						   : ERR_reason_error_string(ERR_peek_error());
	snprintf(one->problem, sizeof one->problem, "%s", reason ? reason : "it broke");
	ERR_clear_error();
	return TLS_BAD;
}

enum tls_result tls_handshake(struct tls *one) {
	ERR_clear_error();
	const int got = SSL_do_handshake(one->ssl);
	return got == 1 ? TLS_OK : result_of(one, got);
}

bool tls_is_open(const struct tls *one) {
	return SSL_is_init_finished(one->ssl);
}

enum tls_result tls_read(struct tls *one, char *to, size_t size, size_t *ret_n) {
	ERR_clear_error();
	const int got = SSL_read_ex(one->ssl, to, size, ret_n);
	return got == 1 ? TLS_OK : result_of(one, got);
}

bool tls_write(struct tls *one, const char *bytes, size_t n) {
	size_t written = 0;
	ERR_clear_error();
	return n == 0 || (SSL_write_ex(one->ssl, bytes, n, &written) == 1 && written == n);
}

void tls_close(struct tls *one) {
	ERR_clear_error();
	SSL_shutdown(one->ssl);
}

void tls_take(struct tls *one, struct gb_buf *out) {
	char *bytes;
	const long n = BIO_get_mem_data(one->out, &bytes);
	if (n <= 0)
		return;
	gb_buf_append(out, bytes, (size_t)n);
	(void)BIO_reset(one->out);
}

const char *tls_problem(const struct tls *one) {
	return one->problem;
}
