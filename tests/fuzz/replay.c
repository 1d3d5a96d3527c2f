/* Runs a fuzz target over the files in a folder: the corpus as a test, for compilers without a fuzzer. */
#include "fuzz.h"

#include <dirent.h>

#include "base/buf.h"

static bool run_file(const char *path) {
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	gb_auto_buf struct gb_buf content;
	gb_buf_init(&content, 64 << 20);
	char block[4096];
	for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;)
		gb_buf_append(&content, block, n);
	fclose(file);
	/* An exact copy, so that a sanitizer sees a read beyond its end. */
	uint8_t *copy = malloc(content.len ? content.len : 1);
	if (!copy)
		return false;
	for (size_t i = 0; i < content.len; i++)
		copy[i] = (uint8_t)content.data[i];
	LLVMFuzzerTestOneInput(copy, content.len);
	free(copy);
	return true;
}

int main(int argc, char **argv) {
	DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
	int n = 0;
	puts("1..1");
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		char path[4096];
		snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
		n += entry->d_name[0] != '.' && run_file(path);
	}
	if (folder)
		closedir(folder);
	printf("%s 1 - %d inputs\n", n ? "ok" : "not ok", n);
	return n == 0;
}
