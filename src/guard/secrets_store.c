#include "guard/secrets_store.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "guard/secrets.h"

#define BOX_NAME  "secrets"
#define KEY_NAME  "secrets.key"
#define NEW_NAME  "secrets.new"
#define LOCK_NAME "secrets.lock"

enum {
	MAGIC_BYTES = 8,
	NONCE_BYTES = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
	KEY_BYTES = crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
	TAG_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES,
	HEAD_BYTES = MAGIC_BYTES + NONCE_BYTES,
	ENTRY_BYTES = 6, /* before a name and a value: their lengths, 2 and 4 bytes, the low one first */
	BINDING_MARK = 0x8000, /* on the length of the name: the entry is a binding */
	BINDINGS_BYTES = 256 << 10,
	PLAIN_MAX =
	    GB_SECRETS_BYTES + BINDINGS_BYTES + 2 * GB_SECRETS_MAX * (ENTRY_BYTES + GB_SECRET_NAME_MAX),
};

static const char magic[MAGIC_BYTES] = {'G', 'B', 'X', 'S', 'E', 'C', '1', '\n'};

struct store {
	const char *dir;
	int fd, lock;
	unsigned char key[KEY_BYTES];
	struct gb_buf plain; /* entries, one after the other */
	size_t bindings;     /* where the first binding is in it */
	struct gb_err *err;
};

static void wipe(struct gb_buf *buf) {
	if (buf->data)
		sodium_memzero(buf->data, buf->cap);
	gb_buf_finish(buf);
}
#define auto_wiped __attribute__((cleanup(wipe)))

static void close_store(struct store *store) {
	wipe(&store->plain);
	sodium_memzero(store->key, sizeof store->key);
	gb_close_fd(&store->lock);
	gb_close_fd(&store->fd);
}
#define auto_store __attribute__((cleanup(close_store)))

/* --- the folder --- */

static bool make_folders(const char *dir, struct gb_err *err) {
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s", dir);
	for (char *at = path + 1;; at++) {
		if (*at != '/' && *at != '\0')
			continue;
		char was = *at;
		*at = '\0';
		if (mkdir(path, 0700) != 0 && errno != EEXIST)
			return gb_fail(err, GB_ESYSTEM, errno, "make folder '%s'", path);
		*at = was;
		if (!was)
			return true;
	}
}

static bool is_private(int fd, const char *dir, const char *name, struct gb_err *err) {
	struct stat st;
	const char *slash = *name ? "/" : "";
	if (fstat(fd, &st) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "look at '%s%s%s'", dir, slash, name);
	if (*name && !S_ISREG(st.st_mode))
		return gb_fail(err, GB_EINVAL, 0, "'%s%s%s' is no file; move it away", dir, slash, name);
	if (st.st_uid != geteuid())
		return gb_fail(err, GB_EINVAL, 0,
		    "'%s%s%s' belongs to user %u, and not to you (%u); run 'chown %u' on it as root, or set "
		    "GLOVEBOX_STATE_DIR to a folder of your own",
		    dir, slash, name, st.st_uid, geteuid(), geteuid());
	if (st.st_mode & 077)
		return gb_fail(err, GB_EINVAL, 0,
		    "others may use '%s%s%s' (mode %04o); run: chmod %s '%s%s%s'", dir, slash, name,
		    st.st_mode & 07777, *name ? "600" : "700", dir, slash, name);
	return true;
}

static bool open_folder(struct store *store) {
	store->fd = open(store->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store->fd < 0)
		return gb_fail(store->err, GB_ENOENT, errno, "open folder '%s'", store->dir);
	return is_private(store->fd, store->dir, "", store->err);
}

/* An exclusive lock for changes of the file. */
static bool lock(struct store *store) {
	store->lock = openat(store->fd, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (store->lock < 0 || flock(store->lock, LOCK_EX) != 0)
		return gb_fail(store->err, GB_ESYSTEM, errno, "lock '%s/" LOCK_NAME "'", store->dir);
	return true;
}

/* --- files --- */

/* False with errno ENOENT, and no error told, if there is no such file. */
static bool read_private(struct store *store, const char *name, struct gb_buf *content) {
	gb_auto_fd int fd = openat(store->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return false;
	if (fd < 0)
		gb_fail(store->err, GB_ESYSTEM, errno, "open '%s/%s'", store->dir, name);
	else if (is_private(fd, store->dir, name, store->err) &&
		 gb_read_to_end(fd, name, content, store->err))
		return true;
	errno = EIO;
	return false;
}

static bool write_new(struct store *store, const char *name, int flags, const void *bytes, size_t n) {
	gb_auto_fd int fd =
	    openat(store->fd, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	if (fd < 0 || !gb_write_all(fd, bytes, n) || fsync(fd) != 0)
		return gb_fail(store->err, GB_ESYSTEM, errno, "write '%s/%s'", store->dir, name);
	return true;
}

/* Replace the file atomically. */
static bool replace(struct store *store, const void *bytes, size_t n) {
	unlinkat(store->fd, NEW_NAME, 0);
	if (!write_new(store, NEW_NAME, O_EXCL, bytes, n))
		return false;
	if (renameat(store->fd, NEW_NAME, store->fd, BOX_NAME) != 0 || fsync(store->fd) != 0)
		return gb_fail(store->err, GB_ESYSTEM, errno, "replace '%s/" BOX_NAME "'", store->dir);
	return true;
}

/* --- the key --- */

static bool is_there(const struct store *store, const char *name) {
	struct stat st;
	return fstatat(store->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool read_key(struct store *store) {
	auto_wiped struct gb_buf content;
	gb_buf_init(&content, 4096);
	if (!read_private(store, KEY_NAME, &content)) {
		if (errno == ENOENT)
			gb_fail(store->err, GB_ENOENT, 0,
			    "'%s/" BOX_NAME "' is there, but its key '" KEY_NAME
			    "' is not; bring the key back, or "
			    "move the file away and add the secrets anew",
			    store->dir);
		return false;
	}
	if (content.len != KEY_BYTES)
		return gb_fail(store->err, GB_EFORMAT, 0,
		    "'%s/" KEY_NAME
		    "' is no key: it has %zu bytes and not %d; bring it back from a copy, or move "
		    "it and '" BOX_NAME "' away and add the secrets anew",
		    store->dir, content.len, KEY_BYTES);
	memcpy(store->key, content.data, KEY_BYTES);
	return true;
}

static bool make_key(struct store *store) {
	randombytes_buf(store->key, sizeof store->key);
	return write_new(store, KEY_NAME, O_EXCL, store->key, sizeof store->key);
}

/* --- the box --- */

static bool unbox(struct store *store, const struct gb_buf *box) {
	unsigned char *plain = (unsigned char *)gb_buf_reserve(&store->plain, PLAIN_MAX);
	unsigned long long n = 0;
	if (!plain)
		return gb_fail(store->err, GB_ENOMEM, 0, "out of memory for secrets");
	const unsigned char *data = (const unsigned char *)box->data;
	bool fits = box->len >= HEAD_BYTES + TAG_BYTES && box->len <= HEAD_BYTES + TAG_BYTES + PLAIN_MAX &&
		    memcmp(data, magic, MAGIC_BYTES) == 0;
	if (!fits || crypto_aead_xchacha20poly1305_ietf_decrypt(plain, &n, NULL, data + HEAD_BYTES,
			 box->len - HEAD_BYTES, data, MAGIC_BYTES, data + MAGIC_BYTES, store->key) != 0)
		return gb_fail(store->err, GB_EFORMAT, 0,
		    "'%s/" BOX_NAME
		    "' does not open with its key: one of them is damaged or was replaced. Nothing "
		    "was changed. Bring both back from a copy, or move both away and add the secrets anew",
		    store->dir);
	store->plain.len = (size_t)n;
	return true;
}

static bool save(struct store *store) {
	gb_auto_buf struct gb_buf box;
	gb_buf_init(&box, HEAD_BYTES + TAG_BYTES + PLAIN_MAX);
	unsigned char *data =
	    (unsigned char *)gb_buf_reserve(&box, HEAD_BYTES + TAG_BYTES + store->plain.len);
	unsigned long long n;
	if (!data)
		return gb_fail(store->err, GB_ENOMEM, 0, "out of memory for secrets");
	memcpy(data, magic, MAGIC_BYTES);
	randombytes_buf(data + MAGIC_BYTES, NONCE_BYTES);
	crypto_aead_xchacha20poly1305_ietf_encrypt(data + HEAD_BYTES, &n, (unsigned char *)store->plain.data,
	    store->plain.len, data, MAGIC_BYTES, NULL, data + MAGIC_BYTES, store->key);
	return replace(store, data, HEAD_BYTES + (size_t)n);
}

/* --- entries --- */

/* Secrets come first, in the order of their names; then the bindings of some of them, whose names are marked: programs
 * that know no bindings end there, and read every secret. */
struct entry {
	char name[GB_SECRET_NAME_MAX + 1];
	bool is_binding;
	const char *value;
	size_t n;
	size_t at, end; /* where it lies in the plain text */
};

/* The entry at @at. False at the end, and if it is malformed. */
static bool entry_at(const struct gb_buf *plain, size_t at, struct entry *entry) {
	if (plain->len - at < ENTRY_BYTES)
		return false;
	const unsigned char *head = (const unsigned char *)plain->data + at;
	const size_t marked = head[0] | (size_t)head[1] << 8, name = marked & ~(size_t)BINDING_MARK;
	size_t n = head[2] | (size_t)head[3] << 8 | (size_t)head[4] << 16 | (size_t)head[5] << 24;
	if (!name || name > GB_SECRET_NAME_MAX || name + n > plain->len - at - ENTRY_BYTES)
		return false;
	memcpy(entry->name, head + ENTRY_BYTES, name);
	entry->name[name] = '\0';
	entry->is_binding = marked & BINDING_MARK;
	entry->value = (const char *)head + ENTRY_BYTES + name;
	entry->n = n;
	entry->at = at;
	entry->end = at + ENTRY_BYTES + name + n;
	return true;
}

static bool fail_damaged(const struct store *store, const char *name) {
	return gb_fail(store->err, GB_EFORMAT, 0,
	    "'%s/" BOX_NAME
	    "' is damaged%s%s. Nothing was changed. Bring it back from a copy, or move it away "
	    "and add the secrets anew",
	    store->dir, *name ? " at secret " : "", name);
}

static bool read_binding(const struct store *store, const struct entry *entry,
    char copy[GB_SECRET_BINDING_MAX], struct gb_secret_binding *ret) {
	return gb_secret_binding_read((struct gb_str){entry->value, entry->n}, copy, ret) ||
	       fail_damaged(store, entry->name);
}

static bool find_entry(const struct store *store, const char *name, bool is_binding, struct entry *ret) {
	for (size_t at = is_binding ? store->bindings : 0;
	     entry_at(&store->plain, at, ret) && ret->is_binding == is_binding; at = ret->end)
		if (strcmp(ret->name, name) == 0)
			return true;
	return false;
}

/* Every entry is whole, and each binding is that of a secret. */
static bool check_entries(struct store *store) {
	struct entry entry, secret;
	struct gb_secret_binding binding;
	char copy[GB_SECRET_BINDING_MAX];
	size_t at = 0;
	while (entry_at(&store->plain, at, &entry) && !entry.is_binding)
		at = entry.end;
	store->bindings = at;
	for (; entry_at(&store->plain, at, &entry); at = entry.end)
		if (!entry.is_binding || !find_entry(store, entry.name, false, &secret) ||
		    !read_binding(store, &entry, copy, &binding))
			return fail_damaged(store, entry.name);
	return at == store->plain.len || fail_damaged(store, "");
}

static void append_entry(struct gb_buf *to, const char *name, bool is_binding, const void *value, size_t n) {
	const size_t name_n = strlen(name), marked = name_n | (is_binding ? BINDING_MARK : 0);
	unsigned char head[ENTRY_BYTES] = {(unsigned char)marked, (unsigned char)(marked >> 8),
	    (unsigned char)n, (unsigned char)(n >> 8), (unsigned char)(n >> 16), (unsigned char)(n >> 24)};
	gb_buf_append(to, head, sizeof head);
	gb_buf_append(to, name, name_n);
	gb_buf_append(to, value, n);
}

struct change {
	const char *name;
	const void *value; /* NULL: remove it */
	size_t n;
	bool keeps; /* what it has */
};

/* Append the entries of one kind, with the change. */
static void append_entries(const struct store *store, bool is_binding, const struct change *change,
    struct gb_buf *to, size_t *ret_count, size_t *ret_bytes) {
	struct entry entry;
	bool written = !change->value;
	for (size_t at = 0; entry_at(&store->plain, at, &entry); at = entry.end) {
		const int order = strcmp(entry.name, change->name);
		if (entry.is_binding != is_binding)
			continue;
		if (order > 0 && !written)
			append_entry(to, change->name, is_binding, change->value, change->n);
		written |= order > 0;
		if (order == 0 && !change->keeps)
			continue;
		append_entry(to, entry.name, is_binding, entry.value, entry.n);
		++*ret_count;
		*ret_bytes += entry.n;
	}
	if (!written)
		append_entry(to, change->name, is_binding, change->value, change->n);
}

/* All entries, with the value and the binding of one changed. */
static bool rewrite(struct store *store, const struct change *value, const struct change *binding) {
	auto_wiped struct gb_buf to;
	size_t count = 0, bytes = 0, bound = 0, more = 0;
	gb_buf_init(&to, PLAIN_MAX);
	if (!gb_buf_reserve(&to, PLAIN_MAX))
		return gb_fail(store->err, GB_ENOMEM, 0, "out of memory for secrets");
	append_entries(store, false, value, &to, &count, &bytes);
	append_entries(store, true, binding, &to, &bound, &more);
	if (value->value &&
	    (count >= GB_SECRETS_MAX || bytes + value->n > GB_SECRETS_BYTES || gb_buf_failed(&to)))
		return gb_fail(store->err, GB_ELIMIT, 0,
		    "no room for another secret: at most %d, of %d bytes together; 'glovebox secrets rm "
		    "NAME' makes "
		    "room",
		    GB_SECRETS_MAX, GB_SECRETS_BYTES);
	struct gb_buf old = store->plain;
	store->plain = to;
	to = old;
	return true;
}

/* --- opening --- */

static bool read_store(struct store *store, bool writing) {
	gb_auto_buf struct gb_buf box;
	gb_buf_init(&box, HEAD_BYTES + TAG_BYTES + PLAIN_MAX + 1);
	if (!read_private(store, BOX_NAME, &box)) {
		if (errno != ENOENT)
			return false;
		return !writing || (is_there(store, KEY_NAME) ? read_key(store) : make_key(store));
	}
	return read_key(store) && unbox(store, &box);
}

static bool open_store(struct store *store, const char *dir, bool writing, struct gb_err *err) {
	*store = (struct store){.dir = dir, .fd = -1, .lock = -1, .err = err};
	gb_buf_init(&store->plain, PLAIN_MAX);
	if (sodium_init() < 0)
		return gb_fail(err, GB_ESYSTEM, 0, "libsodium does not start");
	if (writing && !make_folders(dir, err))
		return false;
	return open_folder(store) && (!writing || lock(store)) && read_store(store, writing) &&
	       check_entries(store);
}

/* --- public functions --- */

/* A variable that another secret has would have two values. */
static bool check_variable(
    const struct store *store, const char *name, const struct gb_secret_binding *binding) {
	struct entry entry;
	struct gb_secret_binding other;
	char copy[GB_SECRET_BINDING_MAX];
	for (size_t at = 0; binding && entry_at(&store->plain, at, &entry); at = entry.end)
		if (entry.is_binding && strcmp(entry.name, name) != 0 &&
		    gb_secret_binding_read((struct gb_str){entry.value, entry.n}, copy, &other) &&
		    strcmp(other.variable, binding->variable) == 0)
			return gb_fail_field(store->err, GB_EINVAL, "env",
			    "'%s' is the variable of the secret '%s'", binding->variable, entry.name);
	return true;
}

/* The binding that the secret has after the change is good for its value. */
static bool check_bound(const struct store *store, const char *name, const void *value, size_t n,
    const struct gb_secret_binding *binding) {
	struct entry entry;
	struct gb_secret_binding present;
	char copy[GB_SECRET_BINDING_MAX];
	if (!binding && find_entry(store, name, true, &entry)) {
		if (!read_binding(store, &entry, copy, &present))
			return false;
		binding = &present;
	}
	return !binding || (gb_secret_binding_check(name, value, n, binding, store->err) &&
			       check_variable(store, name, binding));
}

bool gb_secret_store_put(const char *dir, const char *name, const void *value, size_t n,
    const struct gb_secret_binding *binding, struct gb_err *err) {
	auto_store struct store store = {.fd = -1, .lock = -1};
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, GB_SECRET_BINDING_MAX);
	if (binding)
		gb_secret_binding_write(binding, &text);
	if (!gb_secret_check(name, n, err) || !open_store(&store, dir, true, err) ||
	    !check_bound(&store, name, value, n, binding))
		return false;
	if (gb_buf_failed(&text))
		return gb_fail(err, GB_ELIMIT, 0, "the binding of secret '%s' is too long", name);
	const struct change secret = {.name = name, .value = value, .n = n},
			    bound = {.name = name, .value = text.data, .n = text.len, .keeps = !binding};
	return rewrite(&store, &secret, &bound) && save(&store);
}

static bool nothing_stored(const char *dir) {
	char path[PATH_MAX];
	struct stat st;
	int n = snprintf(path, sizeof path, "%s/" BOX_NAME, dir);
	return n < PATH_MAX && lstat(path, &st) != 0 && errno == ENOENT;
}

bool gb_secret_store_remove(const char *dir, const char *name, struct gb_err *err) {
	auto_store struct store store = {.fd = -1, .lock = -1};
	const struct change removal = {.name = name};
	struct entry entry;
	const bool any = !nothing_stored(dir);
	if (any && !open_store(&store, dir, true, err))
		return false;
	if (!any || !find_entry(&store, name, false, &entry))
		return gb_fail(err, GB_ENOENT, 0,
		    "there is no secret '%s'; 'glovebox secrets list' shows the names", name);
	return rewrite(&store, &removal, &removal) && save(&store);
}

bool gb_secret_store_each(const char *dir, gb_secret_handler handler, void *data, struct gb_err *err) {
	auto_store struct store store = {.fd = -1, .lock = -1};
	struct entry entry, bound;
	struct gb_secret_binding binding;
	char copy[GB_SECRET_BINDING_MAX];
	if (nothing_stored(dir))
		return true;
	if (!open_store(&store, dir, false, err))
		return false;
	for (size_t at = 0; entry_at(&store.plain, at, &entry) && !entry.is_binding; at = entry.end) {
		const bool is_bound = find_entry(&store, entry.name, true, &bound);
		if (is_bound && !read_binding(&store, &bound, copy, &binding))
			return false;
		if (!handler(data, entry.name, entry.value, entry.n, is_bound ? &binding : NULL, err))
			return false;
	}
	return true;
}

static bool add_to_filter(void *data, const char *name, const void *value, size_t n,
    const struct gb_secret_binding *binding, struct gb_err *err) {
	return gb_secrets_add(data, name, value, n, err);
}

bool gb_secret_store_load(const char *dir, struct gb_filter *filter, struct gb_err *err) {
	return gb_secret_store_each(dir, add_to_filter, filter, err);
}
