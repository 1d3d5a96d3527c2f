/*
 * Not part of the worker: run when it is built, to find out which blocks of the engine's memory a run writes
 * to. The worker as it is, except that it is not behind a wall: it prepares itself, primes itself as a cell
 * does, and the numbers of the blocks that have changed are printed as what heap.c includes.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "runtime/js/heap.h"
#include "sandbox/inside/zygote.h"

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

int gb_zygote_main(const struct gb_worker *worker) {
	if (!worker->init(""))
		return 1;
	for (unsigned i = 0; i < n_blocks; i++) {
		struct block *block = &blocks[i];
		if (block->at && !(block->before = malloc(block->n)))
			return 1;
		if (block->at)
			memcpy(block->before, block->at, block->n);
	}
	worker->prime();
	size_t total = 0;
	printf("static const uint16_t hot_numbers[] = {");
	for (unsigned i = 0; i < n_blocks; i++) {
		const struct block *block = &blocks[i];
		if (!block->at || memcmp(block->at, block->before, block->n) == 0)
			continue;
		printf("%u, ", i);
		total += HEAD + (block->n + ALIGN - 1) / ALIGN * ALIGN;
	}
	printf("UINT16_MAX};\nenum { HOT_BYTES = %zu };\n", (total + PAGE - 1) / PAGE * PAGE);
	return 0;
}
