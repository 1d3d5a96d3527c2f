#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/chain.h"

/* One line: "glovebox-audit-key-1 " and the seed in hex, from which both keys are derived. */
#define PREFIX "glovebox-audit-key-1 "
enum { SEED_HEX = 2 * crypto_sign_SEEDBYTES, LINE = sizeof PREFIX - 1 + SEED_HEX + 1 };

void gb_key_wipe(struct gb_key *key) {
	sodium_memzero(key, sizeof *key);
}

static bool check_mode(int fd, const char *name, struct gb_err *err) {
	struct stat st;
	if (fstat(fd, &st) != 0)
		return gb_fail(err, GB_ESYSTEM, errno, "examine the key '%s'", name);
	if (st.st_uid != geteuid())
		return gb_fail(err, GB_EINVAL, 0,
		    "the key '%s' does not belong to user %u, which this process runs as", name,
		    (unsigned)geteuid());
	if (st.st_mode & 077)
		return gb_fail(err, GB_EINVAL, 0,
		    "the key '%s' has mode %04o: others could use it; chmod 600 it", name,
		    (unsigned)st.st_mode & 07777);
	return true;
}

static bool parse(const char line[LINE], struct gb_key *ret_key) {
	uint8_t seed[crypto_sign_SEEDBYTES];
	size_t n = 0;
	const char *end = NULL;
	if (memcmp(line, PREFIX, sizeof PREFIX - 1) != 0 || line[LINE - 1] != '\n' ||
	    sodium_hex2bin(seed, sizeof seed, line + sizeof PREFIX - 1, SEED_HEX, NULL, &n, &end) != 0 ||
	    n != sizeof seed)
		return false;
	crypto_sign_seed_keypair(ret_key->public_key, ret_key->secret, seed);
	sodium_memzero(seed, sizeof seed);
	return true;
}

static bool open_key(int dir, const char *name, int *ret_fd, struct gb_err *err) {
	struct stat st;
	gb_auto_fd int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int error = errno;
	/* A symbolic link or a socket fails to open; report it as such. */
	if (fd < 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode))
		return gb_fail(err, GB_EINVAL, 0, "the key '%s' is not a regular file", name);
	if (fd < 0)
		return gb_fail(
		    err, error == ENOENT ? GB_ENOENT : GB_ESYSTEM, error, "open the key '%s'", name);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return gb_fail(err, GB_EINVAL, 0, "the key '%s' is not a regular file", name);
	*ret_fd = gb_take_fd(&fd);
	return true;
}

static bool read_key(int fd, const char *name, struct gb_key *ret_key, struct gb_err *err) {
	char line[LINE], more;
	bool ok = gb_read_all(fd, line, sizeof line) && read(fd, &more, 1) == 0 && parse(line, ret_key);
	sodium_memzero(line, sizeof line);
	return ok || gb_fail(err, GB_EFORMAT, 0, "the key '%s' is not a key of Glovebox's audit log", name);
}

bool gb_key_read(int dir, const char *name, struct gb_key *ret_key, struct gb_err *err) {
	gb_auto_fd int fd = -1;
	return open_key(dir, name, &fd, err) && read_key(fd, name, ret_key, err);
}

bool gb_key_load(int dir, const char *name, struct gb_key *ret_key, struct gb_err *err) {
	gb_auto_fd int fd = -1;
	return open_key(dir, name, &fd, err) && check_mode(fd, name, err) && read_key(fd, name, ret_key, err);
}

bool gb_key_create(int dir, const char *name, struct gb_key *ret_key, struct gb_err *err) {
	gb_auto_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return gb_fail(err, GB_ESYSTEM, errno, "create the key '%s'", name);
	uint8_t seed[crypto_sign_SEEDBYTES];
	char line[LINE + 1] = PREFIX;
	randombytes_buf(seed, sizeof seed);
	crypto_sign_seed_keypair(ret_key->public_key, ret_key->secret, seed);
	sodium_bin2hex(line + sizeof PREFIX - 1, SEED_HEX + 1, seed, sizeof seed);
	line[LINE - 1] = '\n';
	bool ok = gb_write_all(fd, line, LINE) && fsync(fd) == 0 && fsync(dir) == 0;
	int error = errno;
	sodium_memzero(seed, sizeof seed);
	sodium_memzero(line, sizeof line);
	return ok || gb_fail(err, GB_ESYSTEM, error, "write the key '%s'", name);
}
