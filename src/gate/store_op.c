/* Operations in the stores: they own copies of all texts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/stores.h"

struct gb_store_op *gb_store_op_create(enum gb_store_kind kind) {
	struct gb_store_op *op = calloc(1, sizeof *op);
	if (!op)
		return NULL;
	op->kind = kind;
	return op;
}

void gb_store_op_destroy(struct gb_store_op *op) {
	if (!op)
		return;
	if (op->kind != GB_STORE_BEGIN)
		free(op->reservation);
	free(op->options);
	free(op->record);
	free(op->texts);
	free(op);
}

bool gb_store_op_set_turn(struct gb_store_op *op, const struct gb_turn *turn) {
	size_t n = strlen(turn->conversation) + 1;
	if (asprintf(&op->texts, "%s%c%s", turn->conversation, '\0', turn->turn) < 0) {
		op->texts = NULL;
		return false;
	}
	op->turn = (struct gb_turn){turn->face, op->texts, op->texts + n};
	return true;
}

bool gb_store_op_set_request(struct gb_store_op *op, const struct gb_approval_request *request) {
	size_t n = 0;
	op->request = *request;
	for (size_t i = 0; i < gb_approval_n_fields; i++)
		n += gb_approval_text(&op->request, &gb_approval_fields[i])->n;
	char *end = op->texts = malloc(n + 1);
	if (!end)
		return false;
	for (size_t i = 0; i < gb_approval_n_fields; i++) {
		struct gb_str *text = gb_approval_text(&op->request, &gb_approval_fields[i]);
		if (text->n)
			memcpy(end, text->p, text->n);
		text->p = end;
		end += text->n;
	}
	return true;
}

bool gb_store_op_set_record(struct gb_store_op *op, const struct gb_audit_record *record) {
	op->record = gb_audit_copy(record);
	return op->record;
}
