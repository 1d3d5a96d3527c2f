/* Node.js in the sandbox: the tables of tests/data/node, then tests that need the engine. */
#define CASES "node"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "e2e/engine-cases.h"
#include "e2e/without.h"

static struct gb_engine *engine;

static void run_case(void) {
	run_engine_case(engine, GB_NODE, NULL);
}

/* --- runs --- */

enum { TIMEOUT_MS = 600000 };

/* Returns a settled run. */
static struct gb_run *node_with(struct gb_run_options options) {
	if (!options.session)
		options.language = GB_NODE;
	if (!options.timeout_ms)
		options.timeout_ms = TIMEOUT_MS;
	struct gb_run *run = start(engine, options);
	if (run)
		gb_run_wait(run);
	return run;
}

static struct gb_run *node(const char *source) {
	return node_with((struct gb_run_options){.source = source});
}

static void check_value(struct gb_run *run, const char *json) {
	const struct gb_result *result = run ? gb_run_result(run) : NULL;
	char *actual = result && result->value ? gb_value_to_json(result->value, 0, NULL, NULL) : NULL;
	if (!CHECK_STR(actual, json) && result)
		printf("#   %s: %s\n", result->error.name, result->error.message);
	free(actual);
	gb_run_destroy(run);
}

static void check_status(struct gb_run *run, const char *status, const char *code) {
	const struct gb_result *result = run ? gb_run_result(run) : NULL;
	if (CHECK(result)) {
		if (!CHECK_STR(gb_status_name(result->status), status))
			printf("#   %s: %s\n", result->error.name, result->error.message);
		CHECK_STR(result->error.code, code);
	}
	gb_run_destroy(run);
}

TEST(any_kind_of_memory_exhaustion_is_reported) {
	static const char *const sources[] = {
	    "let a = []; for (let i = 0; i < 300; i++) a.push(new Array(131072).fill(i + 0.5)); a.length",
	    "let a = []; for (let i = 0; i < 300; i++) a.push(Buffer.alloc(1 << 20, 1)); a.length",
	    "Buffer.alloc(300 << 20, 1).length",
	    "new Uint8Array(300 << 20).fill(1).length",
	    "let s = []; for (;;) s.push({a: s.length})",
	};
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
		check_status(
		    node_with((struct gb_run_options){.source = sources[i], .memory_bytes = 128 << 20}),
		    "memory", "memory");
}

TEST(memory_within_the_limit_is_available) {
	static const char source[] =
	    "let a = []; for (let i = 0; i < 60; i++) a.push(Buffer.alloc(1 << 20, 1)); a.length";
	check_value(node_with((struct gb_run_options){.source = source, .memory_bytes = 128 << 20}), "60");
	static const char more[] =
	    "let a = []; for (let i = 0; i < 300; i++) a.push(new Array(131072).fill(i + 0.5)); a.length";
	check_value(node_with((struct gb_run_options){.source = more, .memory_bytes = 512 << 20}), "300");
}

TEST(input_files_are_written_and_changed_files_returned) {
	struct gb_values *pool = gb_values_create(0);
	struct gb_value *files = gb_value_object(pool);
	gb_value_put_key(files, "data/in.txt", gb_value_string(pool, "given", 5));
	struct gb_run *run = node_with((struct gb_run_options){.files = files,
	    .source = "const fs = require('fs'); const t = fs.readFileSync('data/in.txt', 'utf8');"
		      "fs.mkdirSync('out'); fs.writeFileSync('out/a.txt', t + '!'); t"});
	size_t n = 0;
	const struct gb_value *made = gb_value_get(gb_run_result(run)->files, "out/a.txt");
	CHECK(made && memcmp(gb_value_bytes(made, &n), "given!", 6) == 0 && n == 6);
	check_value(run, "\"given\"");
	gb_values_destroy(pool);
}

TEST(an_endless_loop_ends_at_its_timeout) {
	struct gb_run *run = node_with((struct gb_run_options){
	    .timeout_ms = 15000, .source = "process.stdout.write('before\\n'); for (;;);"});
	CHECK_STR(gb_run_result(run)->stdout_text, "before\n");
	CHECK(gb_run_result(run)->timed_out);
	check_status(run, "terminated", "timeout");
}

/* --- sessions --- */

static struct gb_session *open_session(void) {
	struct gb_session *session = NULL;
	struct gb_err err = {0};
	if (!CHECK(gb_session_open(engine, GB_NODE, NULL, &session, &err)))
		printf("#   %s\n", err.message);
	return session;
}

static struct gb_run *in(struct gb_session *session, const char *source, uint64_t timeout_ms) {
	return node_with(
	    (struct gb_run_options){.session = session, .source = source, .timeout_ms = timeout_ms});
}

/* Each must be interrupted, and @x keep its value. */
TEST(a_timeout_interrupts_code_and_keeps_the_session) {
	static const char *const endless[] = {
	    "for (;;);",
	    "await 1; for (;;);",
	    "Promise.resolve().then(() => { for (;;); }); 1",
	    "await new Promise(done => setTimeout(done, 10)); for (;;);",
	    "setTimeout(() => { for (;;); }, 10); await new Promise(done => setTimeout(done, 10000))",
	    "await new Promise(done => setTimeout(done, 100000))",
	    "function f() { try { for (;;); } finally { x++ } } f()",
	};
	struct gb_session *session = open_session();
	check_value(in(session, "var x = 7; x", 0), "7");
	for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
		check_status(in(session, endless[i], 300), "terminated", "timeout");
		if (!CHECK_INT(gb_session_state(session), GB_SESSION_IDLE))
			printf("#   after: %s\n", endless[i]);
		check_value(in(session, "x >= 7", 0), "true");
	}
	gb_session_close(session);
}

static void interrupt(struct gb_run *run, const struct gb_log *log, void *data) {
	(void)log, (void)data;
	CHECK(gb_run_interrupt(run));
}

TEST(a_caller_can_interrupt) {
	struct gb_session *session = open_session();
	struct gb_run *run = start(engine,
	    (struct gb_run_options){
		.session = session, .source = "var n = 3; console.log(1); for (;;);", .on_log = interrupt});
	gb_run_wait(run);
	check_status(run, "terminated", "interrupted");
	check_value(in(session, "typeof n", 0), "\"number\"");
	gb_session_close(session);
}

TEST(a_session_can_be_reset) {
	struct gb_session *session = open_session();
	check_value(in(session, "const a = 1; globalThis.b = 2; Array.prototype.mine = 1; a", 0), "1");
	check_value(node_with((struct gb_run_options){
			.session = session, .reset = true, .source = "[typeof a, typeof b, typeof [].mine]"}),
	    "[\"undefined\",\"undefined\",\"undefined\"]");
	check_value(in(session, "const a = 5; a", 0), "5");
	gb_session_close(session);
}

TEST(two_sessions_share_nothing) {
	struct gb_session *a = open_session(), *b = open_session();
	check_value(in(a, "var x = 1; require('fs').writeFileSync('/tmp/f', 'a'); x", 0), "1");
	check_value(
	    in(b, "[typeof x, require('fs').readdirSync('/tmp'), require('fs').readdirSync('/box')]", 0),
	    "[\"undefined\",[],[]]");
	gb_session_close(a);
	gb_session_close(b);
}

TEST(memory_exhaustion_ends_a_session) {
	struct gb_session *session = open_session();
	check_status(
	    in(session, "var a = []; for (;;) a.push(new Array(1000).fill(1.5))", 0), "memory", "memory");
	struct gb_run *run = NULL;
	for (int i = 0; i < 1000 && gb_session_state(session) != GB_SESSION_TERMINATED; i++)
		gb_engine_dispatch(engine, 10, NULL);
	CHECK(!gb_run_start(engine, &(struct gb_run_options){.session = session, .source = "1"}, &run, NULL));
	gb_session_close(session);
}

/* --- packages --- */

static void write_text(const char *folder, const char *name, const char *text) {
	char path[300];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	if (CHECK(file)) {
		fputs(text, file);
		fclose(file);
	}
}

/* A folder of packages: one of each kind, and one that depends on another. */
static void make_packages(const char *folder) {
	static const char *const packages[] = {"common", "modern", "both"};
	char path[200];
	for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, packages[i]);
		mkdir(path, 0755);
	}
	write_text(folder, "common/index.js",
	    "exports.two = 2; exports.which = () => require('child_process') && 'any'");
	write_text(folder, "modern/package.json", "{\"type\":\"module\",\"exports\":\"./m.js\"}");
	write_text(folder, "modern/m.js", "export const three = 3; export default 'modern'");
	write_text(folder, "both/index.js", "module.exports = require('common').two * 2");
}

static void remove_packages(const char *folder) {
	static const char *const names[] = {"common/index.js", "modern/package.json", "modern/m.js",
	    "both/index.js", "common", "modern", "both", ""};
	char path[300];
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		remove(path);
	}
}

TEST(packages_of_the_engine_can_be_allowed) {
	static const struct {
		const char *allowed, *source, *gives;
	} cases[] = {
	    {"common", "require('common').two", "2"},
	    {"common", "import c, {two} from 'common'; export default [two, c.two]", "[2,2]"},
	    {"common", "import {which} from 'common'; export default which()", "\"any\""},
	    {"modern", "import m, {three} from 'modern'; export default [m, three]", "[\"modern\",3]"},
	    {"both", "require('both')", "4"},
	    {"*", "require('both') + require('common').two", "6"},
	    {"both", "try { require('common') } catch (e) { var r = e.code } r", "\"ERR_MODULE_DENIED\""},
	};
	char folder[] = "/tmp/glovebox-packages-XXXXXX";
	if (!CHECK(mkdtemp(folder)))
		return;
	chmod(folder, 0755);
	make_packages(folder);
	struct gb_engine *before = engine;
	engine = engine_with(
	    (struct gb_engine_options){.ready = 1u << GB_NODE, .shards = 1, .node_packages = folder});
	for (size_t i = 0; i < sizeof cases / sizeof *cases && CHECK(engine); i++) {
		struct gb_values *pool = gb_values_create(0);
		struct gb_value *allowed = gb_value_array(pool);
		gb_value_push(allowed, gb_value_string(pool, cases[i].allowed, strlen(cases[i].allowed)));
		check_value(
		    node_with((struct gb_run_options){.source = cases[i].source, .allowed_modules = allowed}),
		    cases[i].gives);
		gb_values_destroy(pool);
	}
	gb_engine_destroy(engine);
	engine = before;
	remove_packages(folder);
}

static struct gb_run *require_common(void) {
	static struct gb_values *pool;
	gb_values_destroy(pool);
	pool = gb_values_create(0);
	struct gb_value *allowed = gb_value_array(pool);
	gb_value_push(allowed, gb_value_string(pool, "common", strlen("common")));
	return node_with(
	    (struct gb_run_options){.source = "require('common').two", .allowed_modules = allowed});
}

TEST(packages_given_by_a_descriptor_are_that_folder) {
	char folder[] = "/tmp/glovebox-packages-XXXXXX", moved[64], planted[64], path[64];
	if (!CHECK(mkdtemp(folder)))
		return;
	snprintf(moved, sizeof moved, "%s-moved", folder);
	snprintf(planted, sizeof planted, "%s-moved (deleted)", folder);
	chmod(folder, 0755);
	make_packages(folder);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	const struct gb_engine_options options = {.ready = 1u << GB_NODE, .shards = 1, .node_packages = path};
	struct gb_engine *before = engine, *other = NULL;

	/* Another folder has its name. */
	CHECK(rename(folder, moved) == 0 && mkdir(folder, 0755) == 0);
	engine = engine_with(options);
	if (CHECK(engine))
		check_value(require_common(), "2");
	gb_engine_destroy(engine);
	engine = before;

	/* It was removed, and the name that the kernel reports for it belongs to another folder. */
	remove_packages(moved);
	CHECK(mkdir(planted, 0755) == 0);
	make_packages(planted);
	struct gb_engine_options refused = options;
	refused.worker_dir = getenv("GB_WORKER_DIR");
	struct gb_err err = {0};
	CHECK(!gb_engine_create(&refused, &other, &err));
	CHECK(strstr(err.message, "has replaced"));
	gb_engine_destroy(other);
	remove_packages(planted);
	rmdir(folder);
	close(fd);
}

/* --- isolation --- */

/* With all modules allowed. @memory_bytes: 0 for the default limit. */
static struct gb_run *attack(struct gb_values *pool, const char *source, uint64_t memory_bytes) {
	static const char *const names[] = {
	    "*", "child_process", "worker_threads", "cluster", "module", "vm", "v8", "inspector"};
	struct gb_value *allowed = gb_value_array(pool);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		gb_value_push(allowed, gb_value_string(pool, names[i], strlen(names[i])));
	return node_with((struct gb_run_options){
	    .source = source, .allowed_modules = allowed, .memory_bytes = memory_bytes});
}

TEST(attacks) {
	static const struct {
		const char *source, *gives;
	} attacks[] = {
	    {"const fs = require('fs'); ['/etc/shadow', '/root', '/proc/1/environ', '/proc/1/mem', "
	     "'/home'].map(p =>"
	     " { try { fs.statSync(p).isDirectory() ? fs.readdirSync(p) : fs.readFileSync(p); return 'read' }"
	     " catch (e) { return 'no' } })",
		"[\"no\",\"no\",\"no\",\"no\",\"no\"]"},
	    {"const fs = require('fs'); ['/usr/x', '/etc/passwd', '/opt/glovebox/node', '/x', "
	     "'/lib/x'].map(p =>"
	     " { try { fs.writeFileSync(p, 'x'); return 'written' } catch (e) { return 'no' } })",
		"[\"no\",\"no\",\"no\",\"no\",\"no\"]"},
	    {"const {spawnSync} = require('child_process'); ['/bin/sh', '/usr/bin/env', '/usr/bin/id'].map(p "
	     "=>"
	     " spawnSync(p).error.code)",
		"[\"EACCES\",\"EACCES\",\"EACCES\"]"},
	    {"const {spawnSync} = require('child_process');"
	     " spawnSync(process.execPath, ['-e', 'console.log(6*7)']).stdout.toString()",
		"\"42\\n\""},
	    {"const {spawn} = require('child_process'); let n = 0, failed = 0;"
	     " for (let i = 0; i < 300; i++) { try { const c = spawn(process.execPath, ['-e', "
	     "'setTimeout(()=>{},1e5)']);"
	     " c.on('error', () => failed++); n++ } catch { failed++ } }"
	     " await new Promise(done => setTimeout(done, 300)); process.kill(-1, 'SIGKILL')",
		NULL},
	    {"try { process.kill(1, 'SIGKILL'); process.kill(-1, 0) } catch (e) { } 'alive'", "\"alive\""},
	    /* Node.js itself refuses where it uses io_uring. */
	    {"let r; try { process.setuid(0); r = 'root' } catch (e) { r = e.code }"
	     " ['EPERM', 'ERR_INVALID_STATE'].includes(r) ? 'refused' : r",
		"\"refused\""},
	    {"require('fs').writeFileSync('/box/x.node', 'x');"
	     " let r; try { require('module').createRequire('/box/a.js')('/box/x.node') } catch (e) { r = "
	     "'no' } r",
		"\"no\""},
	    {"require('os').userInfo().username + require('os').hostname().length.toString().slice(0, 0)",
		"\"box\""},
	};
	for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
		struct gb_values *pool = gb_values_create(0);
		struct gb_run *run = attack(pool, attacks[i].source, 0);
		if (attacks[i].gives) {
			check_value(run, attacks[i].gives);
		} else {
			CHECK(gb_run_result(run)->status != GB_SUCCESS);
			gb_run_destroy(run);
		}
		gb_values_destroy(pool);
	}
	check_value(node("1+1"), "2");
}

/* The same code connects in sandboxes without a network namespace. */
TEST(server_of_the_host_cannot_be_reached) {
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof address;
	char module[500];
	CHECK(bind(fd, (struct sockaddr *)&address, n) == 0 && listen(fd, 5) == 0 &&
	      getsockname(fd, (struct sockaddr *)&address, &n) == 0);
	snprintf(module, sizeof module,
	    "import {createRequire} from 'module'; const require = createRequire('/box/x.js');"
	    "await new Promise(done => require('net').connect(%d, '127.0.0.1').on('error', e => done(e.code))"
	    ".on('connect', function () { this.destroy(); done('connected') }))",
	    ntohs(address.sin_port));
	struct gb_values *pool = gb_values_create(0);
	struct gb_engine *full = engine;
	check_value(attack(pool, module, 0), "\"ECONNREFUSED\"");
	engine = engine_without(GB_NODE, GB_LAYER_NET, (struct gb_engine_options){.shards = 1});
	if (CHECK(engine))
		check_value(attack(pool, module, MEMORY_BESIDE_HOST_SOCKETS), "\"connected\"");
	gb_engine_destroy(engine);
	engine = full;
	gb_values_destroy(pool);
	close(fd);
}

TEST(code_can_connect_to_its_own_server) {
	struct gb_values *pool = gb_values_create(0);
	check_value(attack(pool,
			"import http from 'http';"
			"const s = http.createServer((q, r) => r.end('own'));"
			"await new Promise(done => s.listen(0, '127.0.0.1', done));"
			"const t = await (await fetch(`http://127.0.0.1:${s.address().port}`)).text();"
			"s.close(); s.closeAllConnections(); export default t",
			0),
	    "\"own\"");
	gb_values_destroy(pool);
}

__attribute__((constructor)) static void set_up(void) {
	static const char *const tables[] = {
	    "results", "values", "failures", "output", "modules", "bridge", "sessions"};
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		add_table(tables[i], run_case);
	engine = engine_with((struct gb_engine_options){.ready = 1u << GB_NODE, .shards = 1});
	if (!engine)
		exit(1);
}

__attribute__((destructor)) static void tear_down(void) {
	gb_engine_destroy(engine);
}

/* --- order --- */

/* Log lines and output, in the order of arrival. */
struct order {
	char text[32 << 10];
	size_t n;
};

static void note(struct order *order, const char *text, size_t n) {
	if (order->n + n >= sizeof order->text)
		return;
	memcpy(order->text + order->n, text, n);
	order->n += n;
}

static void note_log(struct gb_run *run, const struct gb_log *log, void *data) {
	size_t n = 0;
	const char *text = gb_value_bytes(gb_value_at(log->args, 0), &n);
	note(data, text, n);
}

static void note_output(struct gb_run *run, int stream, const char *bytes, size_t n, void *data) {
	note(data, bytes, n);
}

TEST(logs_and_output_keep_their_order) {
	static const char source[] = "const fs = require('fs'); let n = 0;\n"
				     "while (n < 4000) {\n"
				     "  console.log(`${n++} `); process.stdout.write(`${n++} `);\n"
				     "  fs.writeSync(1, `${n++} `); process.stderr.write(`${n++} `);\n"
				     "}";
	static struct order order;
	struct gb_run *run = start(engine, (struct gb_run_options){.language = GB_NODE,
					       .source = source,
					       .on_log = note_log,
					       .on_output = note_output,
					       .data = &order});
	const struct gb_result *result = run ? gb_run_wait(run) : NULL;
	CHECK(result && result->status == GB_SUCCESS);
	char *at = order.text;
	long in_order = 0;
	for (; *at && strtol(at, &at, 10) == in_order; at += *at == ' ')
		in_order++;
	CHECK_INT(in_order, 4000);
	gb_run_destroy(run);
}
