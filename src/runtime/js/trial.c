/*
 * Not part of the worker: runs during the build, and prints the header that tells heap.c which of the engine's
 * blocks every run writes. It is the worker without a sandbox: it initializes the engine, runs the small job
 * that a warm cell runs, and compares the blocks before and after.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/js/heap.h"
#include "sandbox/worker.h"

enum { BLOCKS_MAX = 4096, HEAD = 16, ALIGN = 16, PAGE = 4096 };

static struct block {
	const void *at;
	size_t n;
	void *before;
} blocks[BLOCKS_MAX];
static unsigned n_blocks;

void gb_heap_on_block(unsigned number, const void *block) {
	if (number >= BLOCKS_MAX)
		abort();
	blocks[number] = (struct block){.at = block, .n = malloc_usable_size((void *)block)};
	n_blocks = number + 1;
}

void gb_heap_on_free(const void *block) {
	for (unsigned i = 0; block && i < n_blocks; i++)
		if (blocks[i].at == block)
			blocks[i].at = NULL;
}

static bool copy_blocks(void) {
	for (unsigned i = 0; i < n_blocks; i++) {
		struct block *block = &blocks[i];
		if (!block->at)
			continue;
		if (!(block->before = malloc(block->n)))
			return false;
		memcpy(block->before, block->at, block->n);
	}
	return true;
}

/* Replace those of the sandbox. */
bool gb_worker_has_network(void) {
	return false;
}

bool gb_worker_has_workdir(void) {
	return false;
}

int gb_zygote_main(const struct gb_worker *worker) {
	if (!worker->init("") || !copy_blocks())
		return 1;
	worker->prime();
	size_t total = 0;
	printf("static const uint16_t packed_numbers[] = {");
	for (unsigned i = 0; i < n_blocks; i++) {
		const struct block *block = &blocks[i];
		if (!block->at || memcmp(block->at, block->before, block->n) == 0)
			continue;
		printf("%u, ", i);
		total += HEAD + (block->n + ALIGN - 1) / ALIGN * ALIGN;
	}
	printf("UINT16_MAX};\nenum { PACKED_BYTES = %zu };\n", (total + PAGE - 1) / PAGE * PAGE);
	return 0;
}
