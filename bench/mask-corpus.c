/*
 * False positives of the secrets filter in source code without secrets.
 *
 *	mask-corpus [-q] PATH...	files with one of the extensions below, and those in directories
 *
 * Prints file:line, the kind and the masked bytes of every masked place (not with -q), then for each
 * extension, for all sources and for all other files the bytes, the masked places and the places per megabyte.
 * Symbolic links are not followed.
 */
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "guard/secrets_filter.h"

enum { FILE_MAX = 64 << 20, EXCERPT = 60 };

static const char *const extensions[] = {".js", ".mjs", ".cjs", ".ts", ".tsx", ".py", ".json", ".md", ".rst"};
enum { SOURCES = 6 }; /* the first of them are of source code, the others of data and documents */

struct tally {
	size_t files, bytes, places;
};

static int extension_of(const char *path) {
	const char *dot = strrchr(path, '.');
	for (size_t i = 0; dot && i < GB_COUNT(extensions); i++)
		if (strcmp(dot, extensions[i]) == 0)
			return (int)i;
	return -1;
}

/* The preceding bytes of the same line show which pattern matched. */
static void print_place(const char *path, const char *text, const struct gb_span *span, const char *kind) {
	size_t line = 1, start = span->from;
	for (size_t i = 0; i < span->from; i++)
		line += text[i] == '\n';
	while (start && span->from - start < EXCERPT && text[start - 1] != '\n')
		start--;
	size_t n = span->to - span->from;
	printf("%s:%zu: %s: %.*s[%.*s]\n", path, line, kind, (int)(span->from - start), text + start,
	    (int)(n < EXCERPT ? n : EXCERPT), text + span->from);
}

static bool look_at_file(struct gb_filter *filter, const char *path, bool quiet, struct tally *tally) {
	gb_auto_buf struct gb_buf text;
	gb_buf_init(&text, FILE_MAX);
	gb_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !gb_read_to_end(fd, path, &text, NULL)) {
		fprintf(
		    stderr, "mask-corpus: '%s' cannot be read, or is larger than %d bytes\n", path, FILE_MAX);
		return false;
	}
	const struct gb_spans *spans = gb_mask_spans(filter, gb_buf_c_str(&text), text.len);
	if (!spans)
		return false;
	tally->files++;
	tally->bytes += text.len;
	tally->places += spans->n;
	for (size_t i = 0; !quiet && i < spans->n; i++) {
		const char *kind;
		uint64_t count;
		gb_filter_count(filter, spans->list[i].kind, &kind, &count);
		print_place(path, gb_buf_c_str(&text), &spans->list[i], kind);
	}
	return true;
}

static void print_tally(const char *name, const struct tally *tally) {
	if (tally->files)
		printf("%-10s %8zu files %12zu bytes %8zu places %8.3f per MB\n", name, tally->files,
		    tally->bytes, tally->places,
		    (double)tally->places * 1e6 / (double)(tally->bytes ? tally->bytes : 1));
}

static void add_tally(struct tally *sum, const struct tally *tally) {
	sum->files += tally->files;
	sum->bytes += tally->bytes;
	sum->places += tally->places;
}

int main(int argc, char **argv) {
	bool quiet = argc > 1 && strcmp(argv[1], "-q") == 0, ok = true;
	struct tally tallies[GB_COUNT(extensions)] = {0};
	FTS *tree = argc > 1 + quiet ? fts_open(argv + 1 + quiet, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
	if (!tree) {
		fprintf(stderr, "usage: mask-corpus [-q] PATH...\n");
		return 2;
	}
	struct gb_filter *filter = gb_filter_create();
	for (FTSENT *entry; (entry = fts_read(tree));) {
		int extension = entry->fts_info == FTS_F ? extension_of(entry->fts_path) : -1;
		if (extension >= 0)
			ok &= look_at_file(filter, entry->fts_path, quiet, &tallies[extension]);
	}
	fts_close(tree);
	gb_filter_destroy(filter);
	struct tally sources = {0}, others = {0};
	for (size_t i = 0; i < GB_COUNT(extensions); i++) {
		print_tally(extensions[i], &tallies[i]);
		add_tally(i < SOURCES ? &sources : &others, &tallies[i]);
	}
	print_tally("sources", &sources);
	print_tally("others", &others);
	return ok ? 0 : 1;
}
