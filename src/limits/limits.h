/*
 * On what terms code runs: what the settings mean for an engine, for its sessions and for one run. The one
 * place for it, whoever asks: the command line, the server, the gate.
 *
 *	gb_terms_engine_create(config, &(struct gb_engine_options){.max_runs = 1}, &engine, &err);
 *	struct gb_run_options run = {.source = "6*7", .language = GB_PYTHON};
 *	gb_terms_limit(config, 0, &run);
 *	gb_run_start(engine, &run, ...);
 */
#ifndef GB_TERMS_TERMS_H
#define GB_TERMS_TERMS_H

#include "base/buf.h"
#include "config/config.h"
#include "glovebox/sessions.h"

/* Whose settings hold for a language. */
enum gb_config_runtime gb_terms_runtime(enum gb_language language);

/* --- a run --- */

/* What @run leaves open is as the settings say, and of what it asks for it gets no more than they allow. With
 * @patience_ms, that is the time of a run where neither it nor anybody in the settings has named one. */
void gb_terms_limit(const struct gb_config *config, uint64_t patience_ms, struct gb_run_options *run);
/* Fails with GB_ELIMIT, naming field and setting, if @run asks for more than the settings allow. */
bool gb_terms_check(const struct gb_config *config, const struct gb_run_options *run, struct gb_err *err);

/* --- an engine --- */

/* As gb_engine_create, with the programs and profiles of the settings where @options names none. */
bool gb_terms_engine_create(const struct gb_config *config, const struct gb_engine_options *options,
    struct gb_engine **ret, struct gb_err *err);
/* Append the names of settings that an engine made under @was does not follow to @now, with commas. */
void gb_terms_write_fixed(const struct gb_config *was, const struct gb_config *now, struct gb_buf *out);

/* --- sessions --- */

/* How many, for how long. All else of @options stays. */
void gb_terms_sessions(const struct gb_config *config, struct gb_manager_options *options);

#endif
