/* Makes the requests of fetch channels with libcurl: HTTP/1.1, without redirects, cookies, credentials or decoding. It
 * connects only to addresses that were checked, and looks no name up. */
#include <errno.h>
#include <malloc.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/claim.h"
#include "base/cleanup.h"
#include "egress/process/channel.h"
#include "egress/process/tls.h"
#include "value/cbor.h"

enum { CONNECTIONS_KEPT = 16 };

/* --- the memory of libcurl: headers in it may have secrets, so it is erased while there are any --- */

static void erase_and_free(void *memory) {
	if (memory && secrets_exist())
		explicit_bzero(memory, malloc_usable_size(memory));
	free(memory);
}

static void *move(void *memory, size_t n) {
	if (!memory || !secrets_exist())
		return realloc(memory, n);
	const size_t had = malloc_usable_size(memory);
	void *other = malloc(n);
	if (!other)
		return NULL;
	memcpy(other, memory, had < n ? had : n);
	erase_and_free(memory);
	return other;
}

bool transfer_init(const char **ret_problem) {
	*ret_problem = "initialise libcurl";
	if (curl_global_init_mem(CURL_GLOBAL_ALL, malloc, erase_and_free, move, strdup, calloc) != CURLE_OK)
		return false;
	/* What libcurl and OpenSSL read when they are first used. */
	CURL *easy = curl_easy_init();
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());
	const bool made = easy && context;
	curl_easy_cleanup(easy);
	SSL_CTX_free(context);
	return made;
}

/* --- callbacks of a request --- */

static CURLcode set_authorities(CURL *easy, void *context, void *data) {
	X509_STORE *authorities = tls_authorities();
	if (authorities)
		SSL_CTX_set1_cert_store(context, authorities);
	return authorities ? CURLE_OK : CURLE_SSL_CACERT_BADFILE;
}

static const void *bytes_of(const struct sockaddr_storage *address, size_t *ret_n) {
	*ret_n = address->ss_family == AF_INET6 ? 16 : 4;
	return address->ss_family == AF_INET6
		   ? (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr
		   : (const void *)&((const struct sockaddr_in *)address)->sin_addr;
}

static bool was_checked(const struct fetch *fetch, const struct sockaddr_storage *address) {
	size_t n, other_n;
	const void *bytes = bytes_of(address, &n);
	for (unsigned i = 0; i < fetch->n_addresses; i++) {
		const void *other = bytes_of(&fetch->addresses[i], &other_n);
		if (fetch->addresses[i].ss_family == address->ss_family && memcmp(bytes, other, n) == 0)
			return true;
	}
	return false;
}

static bool is_claimed(const struct sockaddr_storage *address) {
	const uint16_t port = address->ss_family == AF_INET6
				  ? ((const struct sockaddr_in6 *)address)->sin6_port
				  : ((const struct sockaddr_in *)address)->sin_port;
	return address_is_here(address) &&
	       gb_claim_is_held(gb_process.sockets_file, gb_process.uid, ntohs(port));
}

static const char claimed[] = "a Glovebox process of this user listens there, which no rule can allow";

static curl_socket_t open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address) {
	struct fetch *fetch = data;
	struct sockaddr_storage to = {0};
	if (purpose != CURLSOCKTYPE_IPCXN || address->addrlen > sizeof to ||
	    (address->family != AF_INET && address->family != AF_INET6))
		return CURL_SOCKET_BAD;
	memcpy(&to, &address->addr, address->addrlen);
	if (!was_checked(fetch, &to))
		fetch->refused = "the address was not checked";
	else if (is_claimed(&to))
		fetch->refused = claimed;
	return fetch->refused ? CURL_SOCKET_BAD
			      : socket(address->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* The connection exists. Again: a process claims its port before it listens. */
static int before_request(void *data, char *to, char *from, int to_port, int from_port) {
	struct fetch *fetch = data;
	for (unsigned i = 0; i < fetch->n_addresses; i++) {
		struct sockaddr_storage address = fetch->addresses[i];
		address_set_port(&address, (uint16_t)to_port);
		if (is_claimed(&address))
			fetch->refused = claimed;
	}
	return fetch->refused ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static struct gb_str trim(struct gb_str text) {
	while (text.n && (text.p[0] == ' ' || text.p[0] == '\t'))
		text = (struct gb_str){text.p + 1, text.n - 1};
	while (text.n && strchr(" \t\r\n", text.p[text.n - 1]))
		text.n--;
	return text;
}

static bool begin_head(struct fetch *fetch, struct gb_str line) {
	const char *space = memchr(line.p, ' ', line.n);
	const size_t at = space ? (size_t)(space - line.p) + 1 : line.n;
	gb_buf_clear(&fetch->head);
	fetch->n_head = 0;
	fetch->status = 0;
	fetch->length_said[0] = '\0';
	/* libcurl accepts more versions, and more than three digits. */
	if (line.n < at + 3 || at != 9 ||
	    (memcmp(line.p, "HTTP/1.1", 8) != 0 && memcmp(line.p, "HTTP/1.0", 8) != 0))
		return false;
	if (line.n > at + 3 && !strchr(" \r\n", line.p[at + 3]))
		return false;
	for (size_t i = at; i < at + 3; i++) {
		if (line.p[i] < '0' || line.p[i] > '9')
			return false;
		fetch->status = fetch->status * 10 + (line.p[i] - '0');
	}
	const struct gb_str reason = trim((struct gb_str){line.p + at + 3, line.n - at - 3});
	snprintf(fetch->reason, sizeof fetch->reason, "%.*s", (int)reason.n, reason.p ? reason.p : "");
	return fetch->status >= 100;
}

static bool send_head(struct fetch *fetch) {
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, GB_FETCH_MESSAGE_MAX - sizeof(struct gb_fetch_message));
	gb_cbor_array(&out, 3);
	gb_cbor_unsigned(&out, (uint64_t)fetch->status);
	gb_cbor_bytes(&out, fetch->reason, strlen(fetch->reason));
	gb_cbor_array(&out, (uint64_t)fetch->n_head * 2);
	gb_buf_append(&out, fetch->head.data, fetch->head.len);
	fetch->head_sent = true;
	gb_buf_finish(&fetch->head);
	return !gb_buf_failed(&out) &&
	       channel_send(fetch->channel, GB_FETCH_HEAD, fetch->id, out.data, out.len);
}

/* All lengths of a response have to be the same number: libcurl would believe the last. */
static bool check_length(struct fetch *fetch, struct gb_str value) {
	if (!value.n || value.n >= sizeof fetch->length_said)
		return false;
	for (size_t i = 0; i < value.n; i++)
		if (value.p[i] < '0' || value.p[i] > '9')
			return false;
	if (fetch->length_said[0])
		return gb_str_eq(value, gb_str_from(fetch->length_said));
	memcpy(fetch->length_said, value.p, value.n);
	fetch->length_said[value.n] = '\0';
	return true;
}

static bool add_header(struct fetch *fetch, struct gb_str line) {
	const char *colon = memchr(line.p, ':', line.n);
	if (!colon || colon == line.p || fetch->n_head == GB_FETCH_HEADERS_MAX)
		return false;
	const size_t n = (size_t)(colon - line.p);
	const struct gb_str name = {line.p, n};
	const struct gb_str value = trim((struct gb_str){colon + 1, line.n - n - 1});
	if (!gb_http_is_token(name) ||
	    (gb_http_is_field(name, "content-length") && !check_length(fetch, value)))
		return false;
	if (fetch->search && gb_http_is_field(name, "content-encoding"))
		fetch->search->is_encoded |= value.n && !gb_http_is_field(value, "identity");
	gb_cbor_bytes(&fetch->head, line.p, n);
	gb_cbor_bytes(&fetch->head, value.p, value.n);
	fetch->n_head++;
	return !gb_buf_failed(&fetch->head);
}

static bool take_line(struct fetch *fetch, struct gb_str line) {
	/* Behind the body. */
	if (fetch->head_sent)
		return true;
	if (line.n >= 5 && memcmp(line.p, "HTTP/", 5) == 0)
		return begin_head(fetch, line);
	if (trim(line).n > 0)
		return add_header(fetch, line);
	/* An interim response says nothing about the request. No request asks for another protocol. */
	return fetch->status < 200 ? fetch->status != 101 : send_head(fetch);
}

/* The same without secrets. */
static bool take_masked_line(struct fetch *fetch, struct gb_str line) {
	char *copy = malloc(line.n + 1);
	if (!copy)
		return false;
	memcpy(copy, line.p, line.n);
	gb_echo_mask(fetch->search->forms, fetch->search->echo.n_forms, copy, line.n);
	const bool ok = take_line(fetch, (struct gb_str){copy, line.n});
	free(copy);
	return ok;
}

static size_t on_header(char *bytes, size_t size, size_t n, void *data) {
	struct fetch *fetch = data;
	fetch->active_ms = now_ms();
	if (!fetch_charge(fetch, 0, size * n))
		return 0;
	const struct gb_str line = {bytes, size * n};
	if (fetch->search ? take_masked_line(fetch, line) : take_line(fetch, line))
		return size * n;
	fetch->refused = NULL;
	snprintf(fetch->reason, sizeof fetch->reason, "the head of the response is malformed or too long");
	fetch->status = -1;
	return 0;
}

/* Send what was searched. False if the rest has to wait. */
static bool send_searched(struct fetch *fetch) {
	struct gb_buf *down = &fetch->search->down;
	while (down->len) {
		size_t n = down->len < GB_FETCH_DATA_MAX ? down->len : GB_FETCH_DATA_MAX;
		n = n < fetch->credit ? n : (size_t)fetch->credit;
		if (!n || channel_is_blocked(fetch->channel) ||
		    !channel_send(fetch->channel, GB_FETCH_DATA, fetch->id, down->data, n))
			return false;
		fetch->credit -= n;
		gb_buf_consume(down, n);
	}
	return true;
}

static size_t search_body(struct fetch *fetch, const char *bytes, size_t n) {
	struct fetch_search *search = fetch->search;
	if (search->is_encoded) {
		snprintf(fetch->reason, sizeof fetch->reason,
		    "the server has compressed its answer, in which no secret can be found");
		fetch->status = -1;
		return 0;
	}
	if (!send_searched(fetch)) {
		fetch->down_paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	const size_t before = search->down.len;
	gb_echo_feed(&search->echo, bytes, n, &search->down);
	gb_egress_bodies_add(fetch->bodies, false, search->down.data + before, search->down.len - before);
	(void)send_searched(fetch);
	return !gb_buf_failed(&search->down) && fetch_charge(fetch, 0, n) ? n : 0;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *data) {
	struct fetch *fetch = data;
	n *= size;
	fetch->active_ms = now_ms();
	if (fetch->search)
		return search_body(fetch, bytes, n);
	if (fetch->credit < n || channel_is_blocked(fetch->channel) ||
	    !channel_send(fetch->channel, GB_FETCH_DATA, fetch->id, bytes, n)) {
		fetch->down_paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	fetch->credit -= n;
	gb_egress_bodies_add(fetch->bodies, false, bytes, n);
	return fetch_charge(fetch, 0, n) ? n : 0;
}

/* The body of a request that is kept as a whole, so that it can be sent again on another connection. */
static bool is_kept(const struct fetch *fetch) {
	return fetch->body == GB_FETCH_SIZED && fetch->length <= GB_FETCH_WINDOW;
}

static size_t on_upload(char *into, size_t size, size_t n, void *data) {
	struct fetch *fetch = data;
	const uint64_t at = is_kept(fetch) ? fetch->uploaded : 0;
	const size_t left = fetch->up.len > at ? (size_t)(fetch->up.len - at) : 0;
	n = size * n < left ? size * n : left;
	if (n == 0 && !fetch->up_ended) {
		fetch->up_paused = true;
		return CURL_READFUNC_PAUSE;
	}
	if (n == 0)
		return fetch->body == GB_FETCH_SIZED && fetch->uploaded < fetch->length ? CURL_READFUNC_ABORT
											: 0;
	memcpy(into, fetch->up.data + at, n);
	gb_egress_bodies_add(fetch->bodies, true, into, n);
	fetch->active_ms = now_ms();
	fetch->uploaded += n;
	if (!is_kept(fetch)) {
		const uint32_t more = (uint32_t)n;
		gb_buf_consume(&fetch->up, n);
		channel_send(fetch->channel, GB_FETCH_CREDIT, fetch->id, &more, sizeof more);
	}
	return fetch_charge(fetch, n, 0) ? n : CURL_READFUNC_ABORT;
}

static int on_rewind(void *data, curl_off_t offset, int origin) {
	struct fetch *fetch = data;
	if (!is_kept(fetch) || origin != SEEK_SET || offset < 0 || (uint64_t)offset > fetch->uploaded)
		return CURL_SEEKFUNC_FAIL;
	fetch->uploaded = (uint64_t)offset;
	if (fetch->bodies && offset < fetch->bodies->n_sent)
		fetch->bodies->n_sent = (uint32_t)offset;
	return CURL_SEEKFUNC_OK;
}

/* --- the connections of a channel --- */

static void on_socket_ready(struct gb_source *source, uint32_t events);

struct connection {
	struct gb_source source;
	struct channel *channel;
	int fd;
};

/* The response is complete. What is left of it may have to wait until the cell takes more. */
static void end_response(struct fetch *fetch) {
	struct fetch_search *search = fetch->search;
	if (search && !search->complete) {
		const size_t before = search->down.len;
		gb_echo_end(&search->echo, &search->down);
		gb_egress_bodies_add(
		    fetch->bodies, false, search->down.data + before, search->down.len - before);
	}
	if (search)
		search->complete = fetch->down_paused = true;
	if (!search || send_searched(fetch))
		fetch_finish(fetch, GB_EGRESS_ALLOWED, NULL);
}

/* Requests that have ended. */
static void collect(struct channel *channel) {
	CURLMsg *message;
	int left;
	while (channel->multi && (message = curl_multi_info_read(channel->multi, &left))) {
		struct fetch *fetch = NULL;
		const CURLcode code = message->data.result;
		if (message->msg != CURLMSG_DONE ||
		    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &fetch) != CURLE_OK || !fetch)
			continue;
		if (code == CURLE_OK && fetch->head_sent)
			end_response(fetch);
		else if (fetch->refused)
			fetch_finish(fetch, GB_EGRESS_DENIED, fetch->refused);
		else
			fetch_finish(fetch, GB_EGRESS_UNREACHED,
			    fetch->status < 0   ? fetch->reason
			    : fetch->problem[0] ? fetch->problem
			    : code == CURLE_OK  ? "the server has sent no response"
						: curl_easy_strerror(code));
	}
}

static void on_socket_ready(struct gb_source *source, uint32_t events) {
	struct connection *connection = (struct connection *)source;
	struct channel *channel = connection->channel;
	const int what =
	    (events & GB_LOOP_IN ? CURL_CSELECT_IN : 0) | (events & GB_LOOP_OUT ? CURL_CSELECT_OUT : 0);
	int running;
	curl_multi_socket_action(channel->multi, connection->fd, what ? what : CURL_CSELECT_ERR, &running);
	collect(channel);
}

/* libcurl waits for other events of a socket, or is about to close it. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *of_socket) {
	struct channel *channel = data;
	struct connection *connection = of_socket;
	const uint32_t events =
	    (what & CURL_POLL_IN ? GB_LOOP_IN : 0) | (what & CURL_POLL_OUT ? GB_LOOP_OUT : 0);
	if (what == CURL_POLL_REMOVE) {
		if (connection)
			gb_loop_remove(&gb_process.loop, &connection->source);
		free(connection);
		curl_multi_assign(channel->multi, fd, NULL);
		return 0;
	}
	if (connection) {
		gb_loop_change(&gb_process.loop, &connection->source, events);
		return 0;
	}
	connection = calloc(1, sizeof *connection);
	if (!connection)
		return -1;
	*connection = (struct connection){.channel = channel, .fd = fd, .source.fd = -1};
	if (!gb_loop_add(&gb_process.loop, &connection->source, fd, events, on_socket_ready, NULL)) {
		free(connection);
		return -1;
	}
	curl_multi_assign(channel->multi, fd, connection);
	return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *data) {
	struct channel *channel = data;
	channel->deadline_ms = timeout_ms < 0 ? 0 : now_ms() + (uint64_t)timeout_ms;
	return 0;
}

static bool open_multi(struct channel *channel) {
	if (channel->multi)
		return true;
	CURLM *multi = curl_multi_init();
	if (!multi)
		return false;
	curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, channel);
	curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(multi, CURLMOPT_TIMERDATA, channel);
	curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
	curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_KEPT);
	channel->multi = multi;
	return true;
}

void transfer_tick(struct channel *channel, uint64_t now) {
	int running;
	if (!channel->deadline_ms || now < channel->deadline_ms)
		return;
	channel->deadline_ms = 0;
	curl_multi_socket_action(channel->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	collect(channel);
}

void transfer_close(struct channel *channel) {
	if (channel->multi)
		curl_multi_cleanup(channel->multi);
	channel->multi = NULL;
	channel->deadline_ms = 0;
}

/* --- requests --- */

/* "name:port:address,address": the addresses that were checked. */
static bool set_addresses(struct fetch *fetch) {
	const struct gb_host *host = gb_process.proxy_port ? &gb_process.proxy : &fetch->host;
	const uint16_t port = gb_process.proxy_port ? gb_process.proxy_port : fetch->port;
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, 4096);
	if (host->kind != GB_HOST_NAME)
		return true;
	gb_buf_printf(&text, "%s:%u:", host->name, port);
	for (unsigned i = 0; i < fetch->n_addresses; i++) {
		char address[64];
		const bool six = fetch->addresses[i].ss_family == AF_INET6;
		address_write(&fetch->addresses[i], address, sizeof address);
		gb_buf_printf(&text, six ? "%s[%s]" : "%s%s", i ? "," : "", address);
	}
	const char *line = gb_buf_c_str(&text);
	fetch->addresses_list = line ? curl_slist_append(NULL, line) : NULL;
	return fetch->addresses_list;
}

static void set_method(struct fetch *fetch) {
	CURL *easy = fetch->easy;
	if (fetch->body != GB_FETCH_NO_BODY) {
		curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE,
		    fetch->body == GB_FETCH_SIZED ? (curl_off_t)fetch->length : (curl_off_t)-1);
		curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_upload);
		curl_easy_setopt(easy, CURLOPT_READDATA, fetch);
		curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_rewind);
		curl_easy_setopt(easy, CURLOPT_SEEKDATA, fetch);
		curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 65536L);
		/* It could not be sent again if a connection that was kept turns out to be closed. */
		if (!is_kept(fetch))
			curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	} else if (strcmp(fetch->method, "HEAD") == 0) {
		curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	}
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, fetch->method);
}

/* Headers that libcurl would add by itself; and that a method with a body has one of no length. */
static bool add_headers(struct fetch *fetch) {
	static const char *const off[] = {"Expect:", "Accept:", NULL};
	bool has_accept = false;
	for (struct curl_slist *one = fetch->headers; one; one = one->next)
		has_accept |= strncasecmp(one->data, "accept:", 7) == 0;
	for (size_t i = 0; off[i]; i++) {
		struct curl_slist *list =
		    i == 1 && has_accept ? fetch->headers : curl_slist_append(fetch->headers, off[i]);
		if (!list)
			return false;
		fetch->headers = list;
	}
	if (fetch->body != GB_FETCH_NO_BODY ||
	    (strcmp(fetch->method, "POST") != 0 && strcmp(fetch->method, "PUT") != 0))
		return true;
	struct curl_slist *list = curl_slist_append(fetch->headers, "Content-Length: 0");
	fetch->headers = list ? list : fetch->headers;
	return list;
}

static void set_connection(struct fetch *fetch) {
	CURL *easy = fetch->easy;
	char text[GB_HOST_NAME_MAX + 32];
	const bool six = fetch->host.kind == GB_HOST_IPV6;
	/* The target is sent as it was checked: libcurl parses nothing that comes from the code. */
	snprintf(text, sizeof text, "%s://%s%s%s:%u/", fetch->tls ? "https" : "http", six ? "[" : "",
	    fetch->host.name, six ? "]" : "", fetch->port);
	curl_easy_setopt(easy, CURLOPT_URL, text);
	curl_easy_setopt(easy, CURLOPT_REQUEST_TARGET, fetch->target);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_RESOLVE, fetch->addresses_list);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, fetch);
	curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_request);
	curl_easy_setopt(easy, CURLOPT_PREREQDATA, fetch);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)fetch->channel->cell->limits.connect_ms);
	curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
	curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, set_authorities);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	if (gb_process.proxy_port) {
		const bool proxy_six = gb_process.proxy.kind == GB_HOST_IPV6;
		snprintf(text, sizeof text, "http://%s%s%s:%u", proxy_six ? "[" : "", gb_process.proxy.name,
		    proxy_six ? "]" : "", gb_process.proxy_port);
		curl_easy_setopt(easy, CURLOPT_PROXY, text);
		curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
		curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	}
}

bool transfer_start(struct fetch *fetch) {
	fetch->easy = curl_easy_init();
	fetch->active_ms = now_ms();
	snprintf(fetch->problem, sizeof fetch->problem, "the request could not be prepared");
	if (!fetch->easy || !open_multi(fetch->channel) || !set_addresses(fetch) || !add_headers(fetch))
		return false;
	CURL *easy = fetch->easy;
	set_connection(fetch);
	set_method(fetch);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fetch->headers);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, fetch);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, fetch);
	curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 65536L);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, fetch->problem);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, fetch);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	fetch->problem[0] = '\0';
	if (curl_multi_add_handle(fetch->channel->multi, easy) == CURLM_OK)
		return true;
	snprintf(fetch->problem, sizeof fetch->problem, "the request could not be started");
	return false;
}

void transfer_stop(struct fetch *fetch) {
	if (fetch->easy && fetch->channel->multi)
		curl_multi_remove_handle(fetch->channel->multi, fetch->easy);
	curl_easy_cleanup(fetch->easy);
	curl_slist_free_all(fetch->headers);
	curl_slist_free_all(fetch->addresses_list);
	fetch->easy = NULL;
	fetch->headers = fetch->addresses_list = NULL;
}

void transfer_resume(struct fetch *fetch) {
	const bool up =
	    fetch->up_paused && (fetch->up.len > (is_kept(fetch) ? fetch->uploaded : 0) || fetch->up_ended);
	const bool down = fetch->down_paused && fetch->credit && !channel_is_blocked(fetch->channel);
	if (fetch->search && fetch->search->complete) {
		end_response(fetch);
		return;
	}
	if (fetch->search)
		(void)send_searched(fetch);
	if (!fetch->easy || (!up && !down))
		return;
	fetch->up_paused &= !up;
	fetch->down_paused &= !down;
	curl_easy_pause(
	    fetch->easy, (fetch->up_paused ? CURLPAUSE_SEND : 0) | (fetch->down_paused ? CURLPAUSE_RECV : 0));
}
