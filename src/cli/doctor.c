/*
 * 'glovebox doctor': in every kind of room, a probe attempts what each layer of the sandbox must refuse; then
 * each installed runtime runs code. The results hold for this kernel and this user.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/cli.h"
#include "cli/doctor.h"
#include "cli/untrusted.h"
#include "engine/workers.h"

/* After this time, progress is shown on a terminal. */
enum { PROGRESS_AFTER_MS = 3000 };

struct doctor {
	struct gb_observer *observer;
	bool json;
	uint64_t started_ns;
	bool shows_progress; /* a progress line is on the terminal and must be cleared */
	unsigned n_missing;  /* rooms, layers and runtimes with the verdict GB_MISSING */
	char cause[24];      /* name of the last cause that was printed */
};

/* --- names and progress --- */

static const char *room_name(enum gb_room room) {
	static const char *const names[GB_ROOMS] = {"none", "files", "programs"};
	return names[room];
}

static const char *verdict_name(enum gb_verdict verdict) {
	static const char *const names[] = {"observed", "absent", "missing"};
	return names[verdict];
}

static void show_progress(struct doctor *doctor, const char *what) {
	if (!isatty(STDERR_FILENO) || gb_now_ns() - doctor->started_ns < PROGRESS_AFTER_MS * 1000000ull)
		return;
	fprintf(stderr, "\r\033[K%s", what);
	doctor->shows_progress = true;
}

static void on_progress(enum gb_room room, const char *layer, void *data) {
	char what[80];
	snprintf(what, sizeof what, layer ? "%s room: %s" : "%s", room_name(room), layer);
	show_progress(data, what);
}

static void clear_progress(struct doctor *doctor) {
	if (doctor->shows_progress)
		fprintf(stderr, "\r\033[K");
	doctor->shows_progress = false;
}

/* --- layers --- */

static enum style style_of(enum gb_verdict verdict) {
	return verdict == GB_OBSERVED ? GREEN : verdict == GB_ABSENT ? YELLOW : RED;
}

static const char *or_dash(const char *text) {
	return *text ? text : "-";
}

/* @trouble is untrusted text: it may contain names of files, programs and variables. */
static void print_why(const char *trouble) {
	printf("            why: ");
	print_message(stdout, trouble, strlen(trouble));
	putchar('\n');
}

/* Most layers need a user namespace, and are denied for one reason. */
static void print_cause(struct doctor *doctor, const struct gb_finding_cause *cause) {
	if (strcmp(doctor->cause, cause->name) == 0) {
		printf("            cause: as above (%s)\n", cause->name);
		return;
	}
	snprintf(doctor->cause, sizeof doctor->cause, "%s", cause->name);
	printf("            cause: ");
	print_message(stdout, cause->text, strlen(cause->text));
	printf("\n            what to do: %s\n", cause->remedy);
}

static void print_cause_json(const struct gb_finding_cause *cause) {
	if (!*cause->name)
		return;
	printf(",\"cause\":{\"name\":\"%s\",\"text\":", cause->name);
	print_json_string(stdout, cause->text);
	printf(",\"remedy\":");
	print_json_string(stdout, cause->remedy);
	printf("}");
}

static void print_layer(struct doctor *doctor, const struct gb_layer_finding *finding) {
	printf("  ");
	print_styled(stdout, style_of(finding->verdict), "%-8s", verdict_name(finding->verdict));
	printf("  %-17s  %-30s  %-7s  %-9s  %-12s  %-11s  %s\n", finding->layer, finding->attempt,
	    or_dash(finding->rooms[0]), or_dash(finding->rooms[1]), or_dash(finding->rooms[2]),
	    or_dash(finding->alone), or_dash(finding->without));
	const bool repeated = *doctor->cause && strcmp(doctor->cause, finding->cause.name) == 0;
	if (*finding->trouble && !repeated)
		print_why(finding->trouble);
	if (*finding->cause.name)
		print_cause(doctor, &finding->cause);
	else if (finding->verdict != GB_OBSERVED)
		printf("            what to do: %s\n", finding->remedy);
}

static void print_layer_json(const struct gb_layer_finding *finding, bool first) {
	printf("%s{\"layer\":\"%s\",\"verdict\":\"%s\",\"optional\":%s,\"attempt\":", first ? "" : ",",
	    finding->layer, verdict_name(finding->verdict), finding->optional ? "true" : "false");
	print_json_string(stdout, finding->attempt);
	printf(",\"wholeWall\":\"%s\",\"thisLayerAlone\":\"%s\",\"withoutIt\":\"%s\",\"rooms\":{",
	    finding->rooms[0], finding->alone, finding->without);
	for (int room = 0; room < GB_ROOMS; room++)
		printf(
		    "%s\"%s\":\"%s\"", room ? "," : "", room_name((enum gb_room)room), finding->rooms[room]);
	printf("}");
	if (*finding->trouble) {
		printf(",\"why\":");
		print_json_string(stdout, finding->trouble);
	}
	if (finding->verdict != GB_OBSERVED) {
		printf(",\"remedy\":");
		print_json_string(stdout, *finding->cause.name ? finding->cause.remedy : finding->remedy);
	}
	print_cause_json(&finding->cause);
	printf("}");
}

static void examine_layers(struct doctor *doctor) {
	if (doctor->json)
		printf("\"layers\":[");
	else
		print_styled(stdout, DIM, "  %-8s  %-17s  %-30s  %-7s  %-9s  %-12s  %-11s  %s\n", "", "layer",
		    "attempt from inside", "none", "files", "programs", "layer alone", "without it");
	struct gb_layer_finding finding;
	for (bool first = true; gb_observer_next(doctor->observer, &finding); first = false) {
		clear_progress(doctor);
		doctor->n_missing += finding.verdict == GB_MISSING;
		if (doctor->json)
			print_layer_json(&finding, first);
		else
			print_layer(doctor, &finding);
		fflush(stdout);
	}
	printf(doctor->json ? "]," : "\n");
}

/* --- rooms --- */

static void list_runtimes(enum gb_room room, const char *quote, const char *between) {
	bool first = true;
	for (size_t i = 0; i < DOCTOR_RUNTIMES; i++) {
		if (runtime_checks[i].room != room)
			continue;
		printf("%s%s%s%s", first ? "" : between, quote, runtime_checks[i].name, quote);
		first = false;
	}
}

static void print_room(struct doctor *doctor, enum gb_room room, const struct gb_room_finding *finding) {
	printf("  ");
	print_styled(stdout, style_of(finding->verdict), "%-8s", verdict_name(finding->verdict));
	printf("  %-17s  ", room_name(room));
	list_runtimes(room, "", ", ");
	printf("\n");
	if (*finding->trouble)
		print_why(finding->trouble);
	if (*finding->lacks.name)
		printf("            without: /proc in cells\n");
	if (*finding->lacks.name)
		print_cause(doctor, &finding->lacks);
}

static void print_room_json(enum gb_room room, const struct gb_room_finding *finding) {
	printf("%s{\"room\":\"%s\",\"verdict\":\"%s\",\"runtimes\":[", room ? "," : "", room_name(room),
	    verdict_name(finding->verdict));
	list_runtimes(room, "\"", ",");
	printf("]");
	if (*finding->trouble) {
		printf(",\"why\":");
		print_json_string(stdout, finding->trouble);
	}
	print_cause_json(&finding->lacks);
	printf("}");
}

static void examine_rooms(struct doctor *doctor) {
	if (doctor->json)
		printf("\"rooms\":[");
	else
		print_styled(stdout, DIM, "  %-8s  %-17s  %s\n", "", "room", "runtimes");
	for (int i = 0; i < GB_ROOMS; i++) {
		const struct gb_room_finding *finding = gb_observer_room(doctor->observer, (enum gb_room)i);
		if (doctor->json)
			print_room_json((enum gb_room)i, finding);
		else
			print_room(doctor, (enum gb_room)i, finding);
		doctor->n_missing += finding->verdict == GB_MISSING;
	}
	printf(doctor->json ? "]," : "\n");
}

/* --- runtimes --- */

static void print_runtime(const struct doctor *doctor, const struct runtime_check *check,
    enum gb_verdict verdict, const char *text) {
	if (!doctor->json) {
		printf("  ");
		print_styled(stdout, style_of(verdict), "%-8s", verdict_name(verdict));
		printf("  %-17s  %-30s  ", check->name, room_name(check->room));
		print_message(stdout, text, strlen(text));
		putchar('\n');
		return;
	}
	printf("%s{\"runtime\":\"%s\",\"room\":\"%s\",\"verdict\":\"%s\",\"text\":",
	    check == runtime_checks ? "" : ",", check->name, room_name(check->room), verdict_name(verdict));
	print_json_string(stdout, text);
	printf("}");
}

static void examine_runtimes(struct doctor *doctor) {
	char text[GB_ERR_MESSAGE_MAX + 64], js_text[sizeof text];
	bool js_runs = false;
	if (doctor->json)
		printf("\"runtimes\":[");
	else
		print_styled(stdout, DIM, "  %-8s  %-17s  %-30s  %s\n", "", "runtime", "room", "a real run");
	for (size_t i = 0; i < DOCTOR_RUNTIMES; i++) {
		const struct runtime_check *check = &runtime_checks[i];
		show_progress(doctor, check->name);
		enum gb_verdict verdict = runtime_observe(check, text, sizeof text);
		clear_progress(doctor);
		doctor->n_missing += verdict == GB_MISSING;
		if (check->language == GB_JAVASCRIPT) {
			js_runs = verdict == GB_OBSERVED;
			memcpy(js_text, text, sizeof text);
		}
		print_runtime(doctor, check, verdict, text);
		fflush(stdout);
	}
	if (!doctor->json) {
		printf("\n");
		return;
	}
	/* The member "run" repeats the finding for JavaScript. */
	printf("],\"run\":{\"ok\":%s,\"text\":", js_runs ? "true" : "false");
	print_json_string(stdout, js_text);
	printf("},");
}

/* --- the command --- */

void facts_print(const struct gb_port_facts *facts) {
	for (size_t i = 0; i < facts->n_facts; i++) {
		const struct gb_port_fact *fact = &facts->facts[i];
		printf("\"%s\":", fact->name);
		if (fact->is_number)
			printf("%s", fact->text);
		else
			print_json_string(stdout, fact->text);
		printf(",");
	}
}

static void print_port(const struct doctor *doctor) {
	struct gb_port_facts about;
	gb_port_about(&about);
	if (doctor->json) {
		printf("{");
		facts_print(&about);
	} else {
		printf("%s\n\n", about.text);
	}
}

static int examine(struct doctor *doctor) {
	print_port(doctor);
	examine_layers(doctor);
	examine_rooms(doctor);
	examine_runtimes(doctor);
	limits_print(doctor->json);
	if (doctor->json)
		printf("\"ok\":%s}\n", doctor->n_missing ? "false" : "true");
	else
		printf("%s\n", doctor->n_missing
				   ? "Runs are refused until everything that is missing is available."
				   : "Every layer of the sandbox works.");
	return doctor->n_missing ? EXIT_REFUSED : EXIT_OK;
}

static const struct flag flags[] = {
    {"json", 0, NULL, "one JSON object", 0, NULL},
    {0},
};

static bool on_flag(const struct flag *flag, const char *value, void *data) {
	if (!flag)
		return report_error(&command_doctor, "takes no operand, but got '%s'", value);
	((struct doctor *)data)->json = true;
	return true;
}

static int run(const struct command *self, int argc, char **argv) {
	struct doctor doctor = {.started_ns = gb_now_ns()};
	enum parsed parsed = parse_flags(self, argc, argv, on_flag, &doctor);
	if (parsed != PARSED)
		return parsed == PARSED_HELP ? EXIT_OK : EXIT_BAD_USE;
	char probe[PATH_MAX];
	const struct gb_observer_options options = {
	    .probe = probe, .plan = runtime_plan, .on_progress = on_progress, .data = &doctor};
	struct gb_err err = {0};
	if (!gb_worker_find(NULL, "glovebox-probe", probe, sizeof probe, &err) ||
	    !gb_observer_create(&options, &doctor.observer, &err)) {
		report_error(self, "%s", err.message);
		return EXIT_REFUSED;
	}
	int status = examine(&doctor);
	gb_observer_destroy(doctor.observer);
	return status;
}

const struct command command_doctor = {
    .name = "doctor",
    .synopsis = "[--json]",
    .summary = "attack the sandbox on this machine and show which layers hold",
    .details =
	"There are three kinds of sandbox, called rooms. In each, a process attempts what each layer of\n"
	"the sandbox forbids. The attempt is repeated with this layer alone, and without it, where it\n"
	"succeeds. A layer is 'observed' if it stopped every attempt that it should stop. Then each\n"
	"installed runtime runs code.\n"
	"\n"
	"  none       JavaScript and TypeScript: no files, no programs\n"
	"  files      Python: system files to read, a folder of its own\n"
	"  programs   shell, Node.js, Deno: also programs, processes, and a network without other hosts\n"
	"\n"
	"Exit status: 0 every layer and every installed runtime works, 3 one is missing and its runs are\n"
	"refused. An optional layer may be absent, and so may a runtime that is not installed.",
    .flags = flags,
    .run = run,
};
