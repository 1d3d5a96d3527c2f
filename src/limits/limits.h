/*
 * The limits and options that the settings define for an engine, its sessions and a run. Used by the command
 * line, the server and the gate.
 *
 *	gb_limits_engine_create(config, &(struct gb_engine_options){.max_runs = 1}, &engine, &err);
 *	struct gb_run_options run = {.source = "6*7", .language = GB_PYTHON};
 *	gb_limits_apply(config, 0, &run);
 *	gb_run_start(engine, &run, ...);
 */
#ifndef GB_LIMITS_LIMITS_H
#define GB_LIMITS_LIMITS_H

#include "base/buf.h"
#include "config/config.h"
#include "glovebox/sessions.h"
#include "store/energy.h"

/* --- a run --- */

/* Fill the limits that @run leaves open from the settings, and lower those that exceed them.
 * @default_timeout_ms, if not 0, is the timeout where neither @run nor a settings source has set one. */
void gb_limits_apply(const struct gb_config *config, uint64_t default_timeout_ms, struct gb_run_options *run);
/* Fails with GB_ELIMIT, naming field and setting, if @run asks for more than the settings allow. */
bool gb_limits_check(const struct gb_config *config, const struct gb_run_options *run, struct gb_err *err);

/* Fails, naming the host, if @run asks for a host that network.allowlist does not have. */
bool gb_limits_check_net(const struct gb_config *config, const struct gb_value *net, struct gb_err *err);

/* Fails, saying why, if @workdir (of a run: struct gb_run_options) cannot be given to code: also if it has, or is in,
 * a folder of Glovebox itself, with the state or the settings. NULL is fine. */
bool gb_limits_check_workdir(const struct gb_config *config, const char *workdir, struct gb_err *err);

/* --- an engine --- */

/* As gb_engine_create, with the programs and profiles of the settings where @options names none. */
bool gb_limits_engine_create(const struct gb_config *config, const struct gb_engine_options *options,
    struct gb_engine **ret, struct gb_err *err);
/* Append the names, separated by commas, of the settings that differ between @was and @now and that take
 * effect only when an engine is created. */
void gb_limits_write_fixed(const struct gb_config *was, const struct gb_config *now, struct gb_buf *out);

/* --- energy --- */

void gb_limits_energy(const struct gb_config *config, struct gb_energy_options *ret_options);

/* --- sessions --- */

/* Set the maximum number of sessions and their lifetimes. Other members of @options stay. */
void gb_limits_sessions(const struct gb_config *config, struct gb_manager_options *options);

#endif
