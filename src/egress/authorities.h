/*
 * Where the certificates of authorities are in a room with a network. Its own header: the sandbox puts the file
 * there, runtimes tell programs of it, and the engine names it in a remedy.
 */
#ifndef GB_EGRESS_AUTHORITIES_H
#define GB_EGRESS_AUTHORITIES_H

/* Certificates of authorities, those of the system, and that of intercepted connections. */
#define GB_AUTHORITIES "/etc/ssl/certs/ca-certificates.crt"
/* Variables by which TLS libraries and programs find them: NAME(variable). */
#define GB_AUTHORITY_VARIABLES(NAME)                                                                         \
	NAME("SSL_CERT_FILE")                                                                                \
	NAME("CURL_CA_BUNDLE")                                                                               \
	NAME("GIT_SSL_CAINFO")                                                                               \
	NAME("REQUESTS_CA_BUNDLE")                                                                           \
	NAME("NODE_EXTRA_CA_CERTS")                                                                          \
	NAME("DENO_CERT")

#endif
