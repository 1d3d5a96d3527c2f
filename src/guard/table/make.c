/*
 * Writes the patterns of secrets_patterns.c as C, compiled: when a program starts that is to be there
 * already.
 *
 *	make-secrets-table > secrets_table.c
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "guard/secrets_match.h"
#include "guard/secrets_patterns.h"

#define PER_LINE 12

static void write_numbers(const char *head, const void *list, size_t n, size_t size) {
	printf("%s", head);
	for (size_t i = 0; i < n; i++) {
		uint64_t number = size == 1   ? ((const uint8_t *)list)[i]
				  : size == 2 ? ((const uint16_t *)list)[i]
				  : size == 4 ? ((const uint32_t *)list)[i]
					      : ((const uint64_t *)list)[i];
		printf("%s0x%" PRIx64 "%s,", i % PER_LINE ? "" : "\n", number, size == 8 ? "u" : "");
	}
	puts("}");
}
#define NUMBERS(head, array) write_numbers(head, array, sizeof(array) / sizeof *(array), sizeof *(array))

static void write_rx(const struct gb_rx *rx) {
	puts("static const struct gb_byteset sets[] = {");
	for (uint32_t i = 0; i < rx->n_sets; i++)
		printf("{{0x%" PRIx64 "u, 0x%" PRIx64 "u, 0x%" PRIx64 "u, 0x%" PRIx64 "u}},\n",
		    rx->sets[i].bits[0], rx->sets[i].bits[1], rx->sets[i].bits[2], rx->sets[i].bits[3]);
	puts("};\nstatic const struct gb_rx_run runs[] = {");
	for (uint32_t i = 0; i < rx->n_runs; i++)
		printf("{%u, %u, %u},%s", rx->runs[i].set, rx->runs[i].min, rx->runs[i].max,
		    i % PER_LINE ? "" : "\n");
	puts("};\nstatic const struct gb_rx_chain chains[] = {");
	for (uint32_t i = 0; i < rx->n_chains; i++) {
		const struct gb_rx_chain *chain = &rx->chains[i];
		printf("{%u, %u, %u, %u, %d, %d, %u, {0x%" PRIx64 "u, 0x%" PRIx64 "u}, {0x%" PRIx64
		       "u, 0x%" PRIx64 "u}},\n",
		    chain->first, chain->n, chain->keep, chain->kind, chain->word, chain->ahead, chain->tail,
		    chain->head[0], chain->head[1], chain->head_mask[0], chain->head_mask[1]);
	}
	printf("};\nstatic const struct gb_rx rx = {.sets = (struct gb_byteset *)sets,\n"
	       ".runs = (struct gb_rx_run *)runs,\n.chains = (struct gb_rx_chain *)chains,\n"
	       ".n_sets = %u,\n.n_runs = %u,\n.n_chains = %u,\n.longest = %zu};\n",
	    rx->n_sets, rx->n_runs, rx->n_chains, rx->longest);
}

static void write_prefilter(const struct gb_prefilter *filter) {
	printf("\t.prefilter = {.groups = %u,\n", filter->groups);
	NUMBERS(".masks = {{", filter->masks[0]);
	for (unsigned i = 1; i < GB_PREFILTER_BYTES; i++)
		NUMBERS(", {", filter->masks[i]);
	puts("},");
	for (unsigned half = 0; half < 2; half++) {
		const uint8_t(*const rows)[GB_PREFILTER_BYTES][16] = half ? filter->high : filter->low;
		printf(".%s = {", half ? "high" : "low");
		for (unsigned i = 0; i < GB_PREFILTER_BUCKETS / 8; i++) {
			printf("{");
			for (unsigned j = 0; j < GB_PREFILTER_BYTES; j++) {
				NUMBERS("{", rows[i][j]);
				printf(",");
			}
			printf("},");
		}
		puts("},");
	}
	NUMBERS(".hashes = {", filter->hashes);
	puts("},");
}

static void write_matcher(const struct gb_matcher *matcher) {
	puts("static const struct gb_chain_list lists[] = {");
	for (uint32_t i = 0; i < matcher->n_lists; i++)
		printf("{%u, %u, %u},\n", matcher->lists[i].first, matcher->lists[i].words,
		    matcher->lists[i].end);
	puts("};");
	write_numbers("static const uint32_t listed[] = {", matcher->chains, matcher->n_chains,
	    sizeof *matcher->chains);
	puts(";\nconst struct gb_matcher gb_secret_table = {.rx = &rx,");
	write_prefilter(&matcher->prefilter);
	printf("\t.chains = (uint32_t *)listed,\n\t.lists = (struct gb_chain_list *)lists,\n"
	       "\t.n_chains = %u,\n\t.n_lists = %u,\n"
	       "\t.wild = {%u, %u, %u},\n",
	    matcher->n_chains, matcher->n_lists, matcher->wild.first, matcher->wild.words, matcher->wild.end);
	NUMBERS("\t.by_key = {", matcher->by_key);
	puts("};");
}

int main(void) {
	struct gb_rx rx = {0};
	struct gb_matcher matcher = {0};
	struct gb_err err = {0};
	bool ok = true;
	for (size_t i = 0; ok && i < gb_n_secret_patterns; i++)
		ok = gb_rx_compile(&rx, gb_secret_patterns[i].pattern, (uint16_t)i, &err);
	ok = ok && gb_matcher_build(&matcher, &rx);
	if (ok) {
		puts("/* Made by src/guard/table/make.c. */\n#include \"guard/secrets_table.h\"\n");
		write_rx(&rx);
		write_matcher(&matcher);
	} else {
		fprintf(stderr, "the patterns cannot be compiled: %s\n", err.message);
	}
	gb_matcher_finish(&matcher);
	gb_rx_finish(&rx);
	return ok && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
