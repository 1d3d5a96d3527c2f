/* Stands in for node, deno or bash. Started outside a sandbox, it leaves the file "<its own path>.ran";
 * inside one its folder is read-only. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
	char self[PATH_MAX], mark[PATH_MAX + 8];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0)
		return 1;
	self[n] = '\0';
	snprintf(mark, sizeof mark, "%s.ran", self);
	int fd = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	puts("v1.2.3");
	return 0;
}
