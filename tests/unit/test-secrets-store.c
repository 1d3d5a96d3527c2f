#include "guard/secrets_store.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "secrets.h"
#include "tap.h"

static char dir[PATH_MAX];

static void begin(void) {
	char template[] = "/tmp/gb-secrets-XXXXXX";
	snprintf(dir, sizeof dir, "%s/state/glovebox", mkdtemp(template));
}

static const char *path_of(const char *name) {
	static char path[PATH_MAX + 64];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static void end(void) {
	static const char *const files[] = {"secrets", "secrets.key", "secrets.lock", "secrets.new"};
	for (size_t i = 0; i < GB_COUNT(files); i++)
		unlink(path_of(files[i]));
	for (unsigned i = 0; i < 3; i++) {
		rmdir(dir);
		*strrchr(dir, '/') = '\0';
	}
}

static bool on_secret(void *data, const char *name, const void *value, size_t n,
    const struct gb_secret_binding *binding, struct gb_err *err) {
	gb_buf_printf(data, "%s=%.*s", name, (int)n, (const char *)value);
	if (binding)
		gb_buf_printf(data, " (%s, %s, %s)", binding->hosts, binding->header, binding->variable);
	gb_buf_append_char(data, ';');
	return true;
}

static void check_content(const char *expected) {
	gb_auto_buf struct gb_buf all;
	struct gb_err err = {0};
	gb_buf_init(&all, 1 << 20);
	if (!CHECK(gb_secret_store_each(dir, on_secret, &all, &err)))
		printf("# %s\n", err.message);
	CHECK_STR(gb_buf_c_str(&all), expected);
}

static void check_refused(const char *message) {
	gb_auto_buf struct gb_buf all;
	struct gb_err err = {0};
	gb_buf_init(&all, 1 << 20);
	CHECK(!gb_secret_store_each(dir, on_secret, &all, &err));
	CHECK(strstr(err.message, message) != NULL);
	CHECK(!gb_secret_store_put(dir, "NEW", "new value", 9, NULL, &err));
	if (!CHECK(strstr(err.message, message) != NULL))
		printf("# %s\n", err.message);
}

static bool put(const char *name, const char *value) {
	return gb_secret_store_put(dir, name, value, strlen(value), NULL, NULL);
}

TEST(secrets_are_kept_replaced_and_removed) {
	struct gb_err err = {0};
	begin();
	check_content("");
	CHECK(put("B", "second value"));
	CHECK(put("A", "first value"));
	CHECK(put("C", "third value"));
	check_content("A=first value;B=second value;C=third value;");
	CHECK(put("B", "another value"));
	check_content("A=first value;B=another value;C=third value;");
	CHECK(gb_secret_store_remove(dir, "A", &err));
	check_content("B=another value;C=third value;");
	CHECK(!gb_secret_store_remove(dir, "A", &err));
	CHECK(strstr(err.message, "no secret 'A'") != NULL);
	end();
}

static const struct gb_secret_binding bound = {"a.example", "x-key: {}", "KEY"};

TEST(bindings_are_kept_with_their_secrets) {
	const struct gb_secret_binding other = {"b.example:8443,*.c.example", "authorization: Bearer {}",
					   "OTHER"},
				       same = {"d.example", "x: {}", "KEY"};
	struct gb_err err = {0};
	begin();
	CHECK(gb_secret_store_put(dir, "B", "second value", 12, &bound, &err));
	CHECK(put("A", "first value"));
	CHECK(gb_secret_store_put(dir, "C", "third value", 11, &other, &err));
	check_content("A=first value;B=second value (a.example, x-key: {}, KEY);"
		      "C=third value (b.example:8443,*.c.example, authorization: Bearer {}, OTHER);");
	/* Another value keeps the binding, and must be good for it. */
	CHECK(put("B", "another value"));
	CHECK(!put("B", "two\nlines"));
	CHECK(!gb_secret_store_put(dir, "A", "first value", 11, &same, &err));
	CHECK_STR(err.field, "env");
	CHECK(gb_secret_store_put(dir, "B", "fourth value", 12, &same, &err));
	CHECK(gb_secret_store_remove(dir, "C", &err));
	check_content("A=first value;B=fourth value (d.example, x: {}, KEY);");
	CHECK(gb_secret_store_remove(dir, "B", &err));
	CHECK(put("B", "fifth value"));
	check_content("A=first value;B=fifth value;");
	end();
}

TEST(bindings_are_checked) {
	static const struct {
		struct gb_secret_binding binding;
		const char *field;
	} bad[] = {
	    {{"", "a: {}", "A"}, "host"},
	    {{"https://a.example", "a: {}", "A"}, "host"},
	    {{"a.example/x", "a: {}", "A"}, "host"},
	    {{"a.example", "a", "A"}, "header"},
	    {{"a.example", "host: {}", "A"}, "header"},
	    {{"a.example", "a: {}\r\nb: c", "A"}, "header"},
	    {{"a.example", "a: {}", ""}, "env"},
	    {{"a.example", "a: {}", "1A"}, "env"},
	    {{"a.example", "a: {}", "A-B"}, "env"},
	    {{"a.example", "a: {}", "LD_PRELOAD"}, "env"},
	    {{"a.example", "a: {}", "CURL_CA_BUNDLE"}, "env"},
	};
	char variable[GB_SECRET_VARIABLE_MAX + 1];
	begin();
	for (size_t i = 0; i < GB_COUNT(bad); i++) {
		struct gb_err err = {0};
		CHECK(!gb_secret_store_put(dir, "A", "some value", 10, &bad[i].binding, &err));
		CHECK_STR(err.field, bad[i].field);
	}
	check_content("");
	gb_secret_binding_variable("openai-key.2", variable);
	CHECK_STR(variable, "OPENAI_KEY_2");
	end();
}

/* Write the file as if it had these entries. */
static void seal(const void *plain, size_t n) {
	enum { NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES, MAGIC = 8 };
	unsigned char box[4096] = "GBXSEC1\n", key[crypto_aead_xchacha20poly1305_ietf_KEYBYTES];
	unsigned long long sealed;
	gb_auto_fd int key_fd = open(path_of("secrets.key"), O_RDONLY | O_CLOEXEC);
	CHECK(key_fd >= 0 && read(key_fd, key, sizeof key) == sizeof key);
	crypto_aead_xchacha20poly1305_ietf_encrypt(
	    box + MAGIC + NONCE, &sealed, plain, n, box, MAGIC, NULL, box + MAGIC, key);
	gb_auto_fd int fd = open(path_of("secrets"), O_WRONLY | O_TRUNC | O_CLOEXEC);
	CHECK(fd >= 0 && gb_write_all(fd, box, MAGIC + NONCE + (size_t)sealed));
}

#define SEAL(text) seal(text, sizeof(text) - 1)
#define SECRET     "\1\0\12\0\0\0Asome value"

TEST(damaged_entries_are_refused) {
	begin();
	CHECK(put("A", "some value"));
	/* As programs without bindings write it, and with one. */
	SEAL(SECRET);
	check_content("A=some value;");
	SEAL(SECRET "\1\200\30\0\0\0Aa.example\nx-key: {}\nKEY\n");
	check_content("A=some value (a.example, x-key: {}, KEY);");
	static const struct {
		const char *text;
		size_t n;
	} bad[] = {
#define BAD(text) {text, sizeof(text) - 1}
	    BAD(SECRET "x"),                                                  /* less than an entry */
	    BAD(SECRET "\1\0\377\0\0\0B"),                                    /* longer than the file */
	    BAD(SECRET "\1\200\377\377\377\377A"),                            /* a length that wraps */
	    BAD(SECRET "\0\200\0\0\0\0"),                                     /* without a name */
	    BAD(SECRET "\1\200\27\0\0\0Aa.example\nx-key: {}\nKEY"),          /* without its last line end */
	    BAD(SECRET "\1\200\24\0\0\0Aa.example\nx-key: {}\n"),             /* without a variable */
	    BAD(SECRET "\1\200\30\0\0\0Ba.example\nx-key: {}\nKEY\n"),        /* of no secret */
	    BAD(SECRET "\1\200\30\0\0\0Aa.example\nhost: {}_\nKEY\n"),        /* a header that cannot be */
	    BAD(SECRET "\1\200\30\0\0\0Aa.example\nx-key: {}\nK\0Y\n"),       /* a NUL */
	    BAD(SECRET "\1\200\30\0\0\0Aa.example\nx-key: {}\nKEY\n" SECRET), /* a secret behind it */
#undef BAD
	};
	for (size_t i = 0; i < GB_COUNT(bad); i++) {
		seal(bad[i].text, bad[i].n);
		check_refused("is damaged");
	}
	end();
}

TEST(stored_secrets_are_added_to_the_filter) {
	struct gb_filter *filter = gb_filter_create();
	gb_auto_buf struct gb_buf out;
	gb_buf_init(&out, 1000);
	begin();
	CHECK(put("A", "hunter22"));
	CHECK(gb_secret_store_load(dir, filter, NULL));
	mask_whole(filter, "<hunter22>", 10, &out);
	CHECK_STR(gb_buf_c_str(&out), "<***>");
	gb_filter_destroy(filter);
	end();
}

static unsigned mode_of(const char *path) {
	struct stat st;
	return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

static bool holds(const char *name, const char *text) {
	gb_auto_buf struct gb_buf content;
	gb_buf_init(&content, 1 << 20);
	gb_auto_fd int fd = open(path_of(name), O_RDONLY | O_CLOEXEC);
	return fd >= 0 && gb_read_to_end(fd, name, &content, NULL) &&
	       memmem(content.data, content.len, text, strlen(text));
}

TEST(other_users_cannot_read_stored_secrets) {
	begin();
	CHECK(put("NAME_OF_IT", "hunter22hunter22"));
	CHECK_INT(mode_of(dir), 0700);
	CHECK_INT(mode_of(path_of("secrets")), 0600);
	CHECK_INT(mode_of(path_of("secrets.key")), 0600);
	CHECK(!holds("secrets", "hunter22") && !holds("secrets.key", "hunter22"));
	CHECK(!holds("secrets", "NAME_OF_IT"));
	CHECK(!holds("secrets.new", ""));
	end();
}

TEST(loosened_modes_are_refused_with_the_fix) {
	begin();
	CHECK(put("A", "first value"));
	chmod(dir, 0755);
	check_refused("(mode 0755); run: chmod 700 '");
	chmod(dir, 0700);
	chmod(path_of("secrets.key"), 0640);
	check_refused("/secrets.key' (mode 0640); run: chmod 600 '");
	chmod(path_of("secrets.key"), 0600);
	chmod(path_of("secrets"), 0604);
	check_refused("/secrets' (mode 0604); run: chmod 600 '");
	chmod(path_of("secrets"), 0600);
	check_content("A=first value;");
	end();
}

static void change_byte(const char *name, off_t at) {
	gb_auto_fd int fd = open(path_of(name), O_RDWR | O_CLOEXEC);
	unsigned char byte;
	if (CHECK(pread(fd, &byte, 1, at) == 1)) {
		byte ^= 0x10;
		CHECK(pwrite(fd, &byte, 1, at) == 1);
	}
}

static off_t size_of(const char *name) {
	struct stat st;
	return stat(path_of(name), &st) == 0 ? st.st_size : 0;
}

TEST(damaged_file_is_refused_and_left_unchanged) {
	begin();
	CHECK(put("A", "first value"));
	for (off_t at = 0; at < size_of("secrets"); at++) {
		change_byte("secrets", at);
		check_refused("does not open with its key");
		change_byte("secrets", at);
	}
	change_byte("secrets.key", 5);
	check_refused("Nothing was changed");
	change_byte("secrets.key", 5);
	check_content("A=first value;");
	end();
}

TEST(truncated_or_missing_files_are_refused) {
	begin();
	CHECK(put("A", "first value"));
	CHECK(truncate(path_of("secrets"), 20) == 0);
	check_refused("does not open with its key");
	CHECK(truncate(path_of("secrets"), 0) == 0);
	check_refused("does not open with its key");
	CHECK(truncate(path_of("secrets.key"), 31) == 0);
	check_refused("is no key: it has 31 bytes");
	unlink(path_of("secrets.key"));
	check_refused("its key 'secrets.key' is not");
	/* No key was made for a file that has one somewhere. */
	CHECK(access(path_of("secrets.key"), F_OK) != 0);
	end();
}

TEST(links_and_special_files_are_refused) {
	begin();
	CHECK(put("A", "first value"));
	char elsewhere[64];
	snprintf(elsewhere, sizeof elsewhere, "/tmp/gb-secrets-elsewhere-%d", (int)getpid());
	CHECK(rename(path_of("secrets"), elsewhere) == 0);
	CHECK(symlink(elsewhere, path_of("secrets")) == 0);
	check_refused("open '");
	unlink(elsewhere);
	unlink(path_of("secrets"));
	CHECK(mkfifo(path_of("secrets"), 0600) == 0);
	check_refused("is no file");
	end();
}

TEST(leftovers_of_an_interrupted_write_do_no_harm) {
	begin();
	CHECK(put("A", "first value"));
	close(open(path_of("secrets.new"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	check_content("A=first value;");
	CHECK(put("B", "second value"));
	check_content("A=first value;B=second value;");
	end();
}

TEST(concurrent_writers_lose_nothing) {
	enum { WRITERS = 8 };
	begin();
	for (int i = 0; i < WRITERS; i++)
		if (fork() == 0) {
			char name[] = {(char)('A' + i), '\0'};
			_exit(put(name, "some value") ? 0 : 1);
		}
	for (int i = 0, status; i < WRITERS; i++)
		CHECK(wait(&status) > 0 && status == 0);
	check_content(
	    "A=some value;B=some value;C=some value;D=some value;E=some value;F=some value;G=some value;"
	    "H=some value;");
	end();
}

TEST(limits_are_reported) {
	struct gb_err err = {0};
	static char large[GB_SECRET_MAX];
	memset(large, 'x', sizeof large);
	begin();
	CHECK(!gb_secret_store_put(dir, "A", "short", 5, NULL, &err));
	CHECK(strstr(err.message, "at least 6") != NULL);
	CHECK(!gb_secret_store_put(dir, "A/B", "long enough", 11, NULL, &err));
	CHECK(access(dir, F_OK) != 0);
	for (unsigned i = 0; i < GB_SECRETS_BYTES / GB_SECRET_MAX; i++) {
		char name[] = {(char)('A' + i), '\0'};
		CHECK(gb_secret_store_put(dir, name, large, sizeof large, NULL, &err));
	}
	CHECK(!gb_secret_store_put(dir, "Z", "one more", 8, NULL, &err));
	CHECK(strstr(err.message, "no room") != NULL);
	CHECK(gb_secret_store_put(dir, "A", "one instead", 11, NULL, &err));
	end();
}
