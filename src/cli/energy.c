#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/cells.h"
#include "cli/state.h"
#include "limits/limits.h"
#include "store/energy.h"

enum { FLAG_JSON, FLAG_STATE };

static const struct flag flags[] = {
    [FLAG_JSON] = {"json", 0, NULL, "one JSON object", 0, NULL},
    [FLAG_STATE] = STATE_FLAGS,
    {0},
};

struct energy_request {
	struct state_request state;
	const char *action, *level, *dir;
	struct gb_energy_options rules;
	bool json;
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	struct energy_request *request = data;
	if (flag && flag - flags == FLAG_JSON)
		return request->json = true;
	if (flag && state_flag(&request->state, flag, value))
		return true;
	if (!request->action)
		request->action = value;
	else if (!request->level)
		request->level = value;
	else
		return report_error(
		    &command_energy, "got the unexpected operand '%s'; see 'glovebox energy --help'", value);
	return true;
}

static int fail(const struct gb_err *err) {
	report_error(&command_energy, "%s", err->message);
	return err->code == GB_EINVAL ? EXIT_BAD_USE : EXIT_CODE_FAILED;
}

/* --- show --- */

/* "now", "never", or a time. */
static struct gb_str format_when(char text[GB_DATE_TEXT], int64_t ms) {
	if (ms <= 0)
		return ms == 0 ? GB_STR("now") : GB_STR("never");
	return format_time(text, ms);
}

static void print_tier(
    const struct gb_energy_state *state, const struct gb_energy_options *rules, enum gb_tier tier) {
	char time[GB_DATE_TEXT];
	struct gb_str when = format_when(time, state->enough_at_ms[tier]);
	print_styled(stdout, DIM, "%-10s", gb_tier_name(tier));
	if (state->runs[tier] == GB_RUNS_MANY)
		print_styled(stdout, GREEN, "unlimited runs");
	else if (state->runs[tier])
		print_styled(
		    stdout, GREEN, "%u run%s now", state->runs[tier], state->runs[tier] == 1 ? "" : "s");
	else if (state->enough_at_ms[tier] < 0)
		print_styled(stdout, RED, "no run is ever possible");
	else
		print_styled(stdout, YELLOW, "none before %.*s", GB_STR_ARG(when));
	double cost = rules->cost[tier], at_least = rules->at_least[tier];
	printf(" (a run costs %.12g and needs a level of %.12g)\n", cost, at_least > cost ? at_least : cost);
}

static void print_state(const struct gb_energy_state *state, const struct gb_energy_options *rules) {
	char time[GB_DATE_TEXT];
	struct gb_str full = format_when(time, state->full_at_ms);
	print_styled(stdout, DIM, "%-10s", "energy");
	print_styled(stdout, state->runs[GB_TIER_ISOLATED] ? BOLD : YELLOW, "%.4f", state->level);
	printf(" of %.12g, and %.12g more an hour", rules->maximum, rules->per_hour);
	printf(state->full_at_ms > 0 ? "; full at %.*s\n" : "; full %.*s\n", GB_STR_ARG(full));
	for (enum gb_tier tier = GB_TIER_ISOLATED; tier < GB_TIERS; tier++)
		print_tier(state, rules, tier);
}

static void print_json_when(const char *name, int64_t ms) {
	char time[GB_DATE_TEXT];
	struct gb_str text = format_time(time, ms);
	if (ms > 0)
		printf(",\"%s\":\"%.*s\"", name, GB_STR_ARG(text));
	else
		printf(",\"%s\":null", name);
}

static void print_json_number(const char *before, const char *name, double number) {
	char text[GB_NUMBER_TEXT];
	printf("%s\"%s\":%.*s", before, name, (int)gb_number_format(text, number), text);
}

static void print_state_json(const struct gb_energy_state *state, const struct gb_energy_options *rules) {
	print_json_number("{", "level", state->level);
	print_json_number(",", "maximum", rules->maximum);
	print_json_number(",", "perHour", rules->per_hour);
	print_json_when("fullAt", state->full_at_ms);
	printf(",\"tiers\":{");
	for (enum gb_tier tier = GB_TIER_ISOLATED; tier < GB_TIERS; tier++) {
		printf("%s\"%s\":", tier ? "," : "", gb_tier_name(tier));
		print_json_number("{", "cost", rules->cost[tier]);
		print_json_number(",", "atLeast", rules->at_least[tier]);
		printf(",\"allowed\":%s", state->enough_at_ms[tier] == 0 ? "true" : "false");
		print_json_when("allowedAt", state->enough_at_ms[tier]);
		putchar('}');
	}
	puts("}}");
}

static int show(const struct energy_request *request) {
	struct gb_energy_state state;
	struct gb_err err = {0};
	if (!gb_energy_look(request->dir, &request->rules, &state, &err))
		return fail(&err);
	if (request->json)
		print_state_json(&state, &request->rules);
	else
		print_state(&state, &request->rules);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_OK;
	report_error(&command_energy, "not everything could be written to standard output");
	return EXIT_CODE_FAILED;
}

/* --- set --- */

static int set(const struct energy_request *request) {
	struct gb_energy *energy;
	struct gb_err err = {0};
	char *end;
	double level = request->level ? strtod(request->level, &end) : 0;
	if (!request->level || end == request->level || *end != '\0') {
		report_error(&command_energy, "set: give a level, such as 0.5");
		return EXIT_BAD_USE;
	}
	if (!gb_energy_open(request->dir, &request->rules, &energy, &err))
		return fail(&err);
	bool ok = gb_energy_set(energy, level, &err);
	gb_energy_close(energy);
	return ok ? show(request) : fail(&err);
}

static int run(const struct command *self, int argc, char **argv) {
	struct energy_request request = {0};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &request);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	const struct gb_config *config = settings_load(self, &request.state.settings);
	if (!config)
		return EXIT_BAD_USE;
	gb_limits_energy(config, &request.rules);
	request.dir = state_folder_of(self, &request.state, STATE_COMMON, config);
	gb_config_unref(config);
	if (!request.dir)
		return EXIT_BAD_USE;
	return request.action ? set(&request) : show(&request);
}

static const struct action actions[] = {
    {"set", "LEVEL",
	"Set the level, from 0 to 1.\n"
	"\n"
	"  glovebox energy set 0.5"},
    {0},
};

const struct command command_energy = {
    .name = "energy",
    .synopsis = "[set LEVEL] [OPTIONS]",
    .summary = "show or set the energy that runs of agents may use",
    .details =
	"Energy is a budget for agents. A run reduces the level, and the level rises again over time. A\n"
	"run is refused if the level is too low for it; runs in the network tier cost more and need a\n"
	"higher level. The setting energy.faces lists the interfaces whose runs cost energy: core_execute "
	"(the\n"
	"default), and execute_code, which is 'glovebox execute' and the SDKs' execute. The other\n"
	"settings energy.* define costs and levels.\n"
	"\n"
	"  glovebox energy              the level, when it will be full, and what could run now\n"
	"  glovebox energy set 1        set the level",
    .flags = flags,
    .actions = actions,
    .run = run,
};
