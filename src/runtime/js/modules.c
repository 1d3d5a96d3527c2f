#include "runtime/js/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "runtime/js/box.h"
#include "runtime/wire.h"

/* --- failures --- */

enum { NAME_SHOWN = 160, NAME_KEPT = 400 };

/* Longer names are replaced, not truncated: the redaction of secrets would miss a partial one. */
static void copy_name(char *to, size_t n, const char *name) {
	size_t length = strlen(name);
	if (length < n)
		memcpy(to, name, length + 1);
	else
		snprintf(to, n, "(a name of %zu bytes)", length);
}

/* Record the guest's pending exception as the reason why the graph cannot be linked, unless one is
 * recorded. */
static void record_failure(struct gb_js *js, const char *importer, const char *specifier) {
	struct gb_js_modules *modules = js->modules;
	JSValue thrown = JS_GetException(js->guest);
	if (!JS_IsUndefined(modules->failure)) {
		JS_FreeValue(js->guest, thrown);
		return;
	}
	modules->failure = thrown;
	copy_name(modules->specifier, sizeof modules->specifier, specifier);
	copy_name(modules->importer, sizeof modules->importer, importer);
	modules->line = modules->column = 0;
	gb_js_source_find_import(&modules->sources, importer, specifier, &modules->line, &modules->column);
}

static void throw_recorded_failure(struct gb_js *js) {
	JS_Throw(js->guest, js->modules->failure);
	js->modules->failure = JS_UNDEFINED;
}

static bool is_url(const char *specifier) {
	return strstr(specifier, "://") || strncmp(specifier, "data:", 5) == 0;
}

static void throw_not_found(struct gb_js *js, const char *last_specifier) {
	const char *why =
	    is_url(last_specifier)     ? "nothing is ever fetched; give it as one of the run's modules"
	    : last_specifier[0] == '/' ? "there are no files; give it as one of the run's modules"
				       : "no such module was given to this run";
	char name[NAME_SHOWN]; /* the engine truncates messages to 255 bytes */
	copy_name(name, sizeof name, last_specifier);
	JS_ThrowReferenceError(js->guest, "cannot import '%s': %s", name, why);
}

/* An error object of the compiler context would give guest code access to the compiler: throw a copy that
 * belongs to the guest context. */
static void rethrow_in_guest(struct gb_js *js) {
	JSValue thrown = JS_GetException(js->compiler);
	JSValue message = JS_GetPropertyStr(js->compiler, thrown, "message");
	JSValue stack = JS_GetPropertyStr(js->compiler, thrown, "stack");
	const char *text = JS_ToCString(js->compiler, message), *where = JS_ToCString(js->compiler, stack);
	JS_ThrowSyntaxError(js->guest, "%s", text ? text : "the module cannot be compiled");
	JSValue error = JS_GetException(js->guest);
	JS_DefinePropertyValueStr(js->guest, error, "stack", JS_NewString(js->guest, where ? where : ""),
	    JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
	JS_FreeCString(js->compiler, text);
	JS_FreeCString(js->compiler, where);
	JS_FreeValue(js->compiler, message);
	JS_FreeValue(js->compiler, stack);
	JS_FreeValue(js->compiler, thrown);
	JS_Throw(js->guest, error);
}

/* --- the kinds of modules --- */

/* Skip sources without the word "meta": `import.meta` cannot be written in another way. */
static void set_import_meta(
    JSContext *ctx, JSModuleDef *module, const char *filename, struct gb_job_text source) {
	if (!memmem(source.p, source.n, "meta", strlen("meta")))
		return;
	gb_auto_buf struct gb_buf url;
	gb_buf_init(&url, 64 << 10);
	gb_buf_printf(&url, "sandbox:%s", filename);
	JSValue meta = JS_GetImportMeta(ctx, module);
	JS_DefinePropertyValueStr(ctx, meta, "url", JS_NewStringLen(ctx, url.data, url.len), JS_PROP_C_W_E);
	JS_FreeValue(ctx, meta);
}

/* Throws an error of the guest context, with the position as its stack. */
static void throw_syntax_error(struct gb_js *js, const char *name, const struct gb_ts_error *error) {
	JS_ThrowSyntaxError(js->guest, "%s", error->message);
	JSValue thrown = JS_GetException(js->guest);
	char stack[512];
	char shown[NAME_KEPT];
	copy_name(shown, sizeof shown, name);
	snprintf(stack, sizeof stack, "    at %s:%u:%u\n", shown, error->line, error->column);
	JS_DefinePropertyValueStr(js->guest, thrown, "stack", JS_NewString(js->guest, stack),
	    JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
	JS_Throw(js->guest, thrown);
}

/* Write U+0000 as "\\0". A specifier that is too long is replaced, as copy_name does. */
static void show_nul(char *to, size_t size, struct gb_str specifier) {
	size_t n = 0;
	for (size_t i = 0; i < specifier.n; i++) {
		if (n + 3 > size) {
			snprintf(to, size, "(a name of %zu bytes)", specifier.n);
			return;
		}
		if (!specifier.p[i])
			to[n++] = '\\';
		to[n++] = specifier.p[i] ? specifier.p[i] : '0';
	}
	to[n] = '\0';
}

static const char nul_message[] = "cannot import '%s': a specifier must not hold U+0000";

/* The engine ends module names at a NUL, and would import another module. */
static bool reject_nul(struct gb_js *js, struct gb_js_source *source) {
	struct gb_js_modules *modules = js->modules;
	struct gb_ts_error error;
	struct gb_str specifier;
	if (!gb_js_source_find_nul(source, &specifier, &error.line, &error.column))
		return false;
	/* As written in the source, so that the escape is visible. */
	char shown[NAME_SHOWN];
	show_nul(shown, sizeof shown, specifier);
	show_nul(modules->specifier, sizeof modules->specifier, specifier);
	snprintf(error.message, sizeof error.message, nul_message, shown);
	throw_syntax_error(js, source->name, &error);
	return true;
}

enum source_kind { MODULE, PROGRAM, SESSION };

/* Put the text of the job around its source. */
static bool wrap(const struct gb_job *job, struct gb_js_source *source) {
	if (source->written.p != job->source.p)
		return true;
	if (job->flags & GB_JOB_BODY)
		return gb_js_source_wrap_body(source);
	struct gb_str head = gb_job_text_setting(job, GB_SETTING_HEAD);
	struct gb_str tail = gb_job_text_setting(job, GB_SETTING_TAIL);
	return (!head.n && !tail.n) || gb_js_source_wrap(source, head, tail);
}

static struct gb_js_source *prepare(
    struct gb_js *js, struct gb_job_text text, const char *name, enum source_kind kind) {
	struct gb_js_modules *modules = js->modules;
	bool is_typescript = modules->job->flags & GB_JOB_TYPESCRIPT;
	struct gb_js_source *source = gb_js_source_add(&modules->sources, name, text, is_typescript);
	struct gb_ts_error error;
	if (!source || !wrap(modules->job, source)) {
		JS_ThrowOutOfMemory(js->guest);
		return NULL;
	}
	source->is_session = kind == SESSION;
	source->is_program = kind == PROGRAM;
	if (gb_js_source_prepare(source, &error))
		return reject_nul(js, source) ? NULL : source;
	throw_syntax_error(js, name, &error);
	return NULL;
}

/* Compile and instantiate @text, with everything that it imports. */
static JSModuleDef *read_source(struct gb_js *js, struct gb_job_text text, const char *name,
    enum source_kind kind, JSContext **ret_failed_in) {
	struct gb_js_modules *modules = js->modules;
	*ret_failed_in = js->guest;
	const struct gb_js_source *source = prepare(js, text, name, kind);
	if (!source)
		return NULL;
	modules->has_value |= source->output.has_value;
	modules->reading++;
	JSValue code =
	    gb_js_compile(js, source->compiled.p, source->compiled.n, name, GB_JS_MODULE, ret_failed_in);
	modules->reading--;
	if (JS_IsException(code))
		return NULL;
	JSModuleDef *module = JS_VALUE_GET_PTR(code);
	set_import_meta(js->guest, module, name, source->compiled);
	return module;
}

static JSModuleDef *load_source(struct gb_js *js, const struct gb_job_module *found) {
	JSContext *failed_in;
	JSModuleDef *module = read_source(js, found->source, found->name.p, MODULE, &failed_in);
	if (!module && failed_in == js->compiler)
		rethrow_in_guest(js);
	return module;
}

static bool is_files(const struct gb_js *js, const char *specifier) {
	return js->has_files && strcmp(specifier, GB_JS_BOX_MODULE) == 0;
}

static JSValue exports_of(struct gb_js *js, const char *specifier) {
	return is_files(js, specifier) ? JS_DupValue(js->guest, js->files)
				       : JS_GetPropertyStr(js->guest, js->modules->imports, specifier);
}

static int init_import(JSContext *ctx, JSModuleDef *module) {
	struct gb_js *js = JS_GetRuntimeOpaque(JS_GetRuntime(ctx));
	JSAtom atom = JS_GetModuleName(ctx, module);
	const char *specifier = JS_AtomToCString(ctx, atom);
	JSValue exports = specifier ? exports_of(js, specifier) : JS_UNDEFINED;
	JSPropertyEnum *names = NULL;
	uint32_t n = 0;
	int status = JS_GetOwnPropertyNames(ctx, &names, &n, exports, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY);
	for (uint32_t i = 0; i < n && status == 0; i++) {
		const char *name = JS_AtomToCString(ctx, names[i].atom);
		status =
		    name ? JS_SetModuleExport(ctx, module, name, JS_GetProperty(ctx, exports, names[i].atom))
			 : -1;
		JS_FreeCString(ctx, name);
	}
	JS_FreePropertyEnum(ctx, names, n);
	JS_FreeValue(ctx, exports);
	JS_FreeCString(ctx, specifier);
	JS_FreeAtom(ctx, atom);
	return status;
}

static JSModuleDef *load_import(struct gb_js *js, const char *specifier) {
	JSContext *ctx = js->guest;
	JSValue exports = exports_of(js, specifier);
	JSPropertyEnum *names = NULL;
	uint32_t n = 0;
	JSModuleDef *module = JS_NewCModule(ctx, specifier, init_import);
	if (JS_GetOwnPropertyNames(ctx, &names, &n, exports, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY) < 0)
		module = NULL;
	for (uint32_t i = 0; i < n && module; i++) {
		const char *name = JS_AtomToCString(ctx, names[i].atom);
		if (!name || JS_AddModuleExport(ctx, module, name) < 0)
			module = NULL;
		JS_FreeCString(ctx, name);
	}
	JS_FreePropertyEnum(ctx, names, n);
	JS_FreeValue(ctx, exports);
	return module;
}

static int init_missing(JSContext *ctx, JSModuleDef *module) {
	JSAtom atom = JS_GetModuleName(ctx, module);
	const char *specifier = JS_AtomToCString(ctx, atom);
	JS_ThrowReferenceError(
	    ctx, "cannot import '%s': it could not be found or compiled before", specifier ? specifier : "?");
	JS_FreeCString(ctx, specifier);
	JS_FreeAtom(ctx, atom);
	return -1;
}

/* --- resolution --- */

static bool is_import(struct gb_js *js, const char *specifier) {
	if (!JS_IsObject(js->modules->imports))
		return false;
	JSAtom atom = JS_NewAtom(js->guest, specifier);
	bool is = JS_GetOwnProperty(js->guest, NULL, js->modules->imports, atom) > 0;
	JS_FreeAtom(js->guest, atom);
	return is;
}

/* True if @name is the name by which other modules import the entry module. */
static bool is_entry(struct gb_js *js, const char *name) {
	const char *filename = js->modules->job->filename.p;
	gb_auto_buf struct gb_buf specifier;
	gb_buf_init(&specifier, 64 << 10);
	gb_buf_printf(&specifier, "./%s", filename);
	gb_auto_free char *own =
	    gb_buf_c_str(&specifier) ? gb_js_resolve_specifier("", specifier.data) : NULL;
	return own && strcmp(own, name) == 0;
}

static JSModuleDef *find(struct gb_js *js, const char *name) {
	struct gb_js_modules *modules = js->modules;
	for (size_t i = 0; i < modules->job->n_modules; i++)
		if (strcmp(modules->job->modules[i].name.p, name) == 0)
			return load_source(js, &modules->job->modules[i]);
	if (is_files(js, name) || is_import(js, name))
		return load_import(js, name);
	throw_not_found(js, modules->last_specifier);
	return NULL;
}

static JSModuleDef *load(JSContext *ctx, const char *name, void *opaque) {
	struct gb_js *js = opaque;
	/* The compiler context needs a module for each import; the guest context, where linking happens,
	 * resolves it. */
	if (ctx == js->compiler)
		return JS_NewCModule(ctx, name, NULL);
	if (!js->modules) {
		char shown[NAME_SHOWN];
		copy_name(shown, sizeof shown, name);
		JS_ThrowReferenceError(ctx, "cannot import '%s'", shown);
		return NULL;
	}
	/* Copies: loading the module may resolve further imports. */
	gb_auto_free char *importer = strdup(js->modules->last_importer);
	gb_auto_free char *specifier = strdup(js->modules->last_specifier);
	JSModuleDef *module = find(js, name);
	if (!module)
		record_failure(js, importer ? importer : "", specifier ? specifier : name);
	if (js->modules->reading)
		return module ? module : JS_NewCModule(ctx, name, init_missing);
	/* A dynamic import: no importer is being read. */
	if (JS_IsUndefined(js->modules->failure))
		return module;
	throw_recorded_failure(js);
	return NULL;
}

/* How long @name is, which the engine passes to resolve(), with every U+0000. The engine makes it with
 * JS_ToCString in all cases, so it is the text of a string of the engine's; a string that is made here shows how
 * far behind the beginning of the string its text is. False, with an exception, if that is not so. */
static bool whole_name(JSContext *ctx, const char *name, struct gb_str *ret) {
	enum { HEADER_MAX = 64 };
	JSValue own = JS_NewStringLen(ctx, "own", strlen("own"));
	const char *text = JS_IsException(own) ? NULL : JS_ToCString(ctx, own);
	ptrdiff_t header = text ? text - (const char *)JS_VALUE_GET_PTR(own) : 0;
	JS_FreeCString(ctx, text);
	JS_FreeValue(ctx, own);
	if (header <= 0 || header > HEADER_MAX) {
		JS_ThrowInternalError(ctx, "the name of a module cannot be read");
		return false;
	}
	size_t n;
	const char *again = JS_ToCStringLen(ctx, &n, JS_MKPTR(JS_TAG_STRING, (char *)name - header));
	if (!again)
		return false;
	/* Each byte of the string is a character here. */
	*ret = (struct gb_str){name, 0};
	for (size_t i = 0; i < n; i++)
		ret->n += ((unsigned char)again[i] & 0xc0) != 0x80;
	JS_FreeCString(ctx, again);
	return true;
}

/* A name that is computed, for import(), may hold a NUL. */
static bool check_name(JSContext *ctx, const char *name) {
	struct gb_str whole;
	if (!whole_name(ctx, name, &whole))
		return false;
	bool has_nul = memchr(whole.p, 0, whole.n);
	char shown[NAME_SHOWN];
	if (has_nul) {
		show_nul(shown, sizeof shown, whole);
		JS_ThrowReferenceError(ctx, nul_message, shown);
	}
	return !has_nul;
}

static void set_text(char **slot, const char *text) {
	free(*slot);
	*slot = strdup(text);
}

static char *resolve(JSContext *ctx, const char *base, const char *specifier, void *opaque) {
	struct gb_js *js = opaque;
	if (ctx == js->compiler || !js->modules)
		return js_strdup(ctx, specifier);
	if (!check_name(ctx, specifier))
		return NULL;
	set_text(&js->modules->last_importer, base);
	set_text(&js->modules->last_specifier, specifier);
	gb_auto_free char *name = gb_js_resolve_specifier(base, specifier);
	if (!name || !js->modules->last_importer || !js->modules->last_specifier) {
		JS_ThrowOutOfMemory(ctx);
		return NULL;
	}
	return js_strdup(ctx, is_entry(js, name) ? js->modules->job->filename.p : name);
}

/* Modules are JavaScript: an import of another type must not run as code. The compiler context checks `import
 * … with`, since bytecode has no attributes; the guest context checks `import()`. */
static int check_attributes(JSContext *ctx, void *opaque, JSValueConst attributes) {
	static const char message[] = "import attributes are not supported: a run's modules are JavaScript";
	struct gb_js *js = opaque;
	JSPropertyEnum *names;
	uint32_t n;
	if (JS_GetOwnPropertyNames(ctx, &names, &n, attributes, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY) < 0)
		return -1;
	JS_FreePropertyEnum(ctx, names, n);
	if (n == 0)
		return 0;
	if (ctx == js->compiler)
		JS_ThrowSyntaxError(ctx, "%s", message);
	else
		JS_ThrowTypeError(ctx, "%s", message);
	return -1;
}

static JSModuleDef *load_any(JSContext *ctx, const char *name, void *opaque, JSValueConst attributes) {
	(void)attributes;
	return load(ctx, name, opaque);
}

static char *resolve_name(void *data, const char *importer, const char *specifier) {
	struct gb_js *js = data;
	char *name = gb_js_resolve_specifier(importer, specifier);
	if (!name || !is_entry(js, name))
		return name;
	free(name);
	return strdup(js->modules->job->filename.p);
}

/* The engine reports only "Could not find export 'x' in module 'm'". */
void gb_js_modules_record_mismatch(struct gb_js *js) {
	JSContext *ctx = js->guest;
	struct gb_js_modules *modules = js->modules;
	JSValue thrown = JS_GetException(ctx);
	JSValue message = JS_GetPropertyStr(ctx, thrown, "message");
	const char *text = JS_ToCString(ctx, message);
	char name[256], module[512];
	struct gb_js_place place;
	if (text && sscanf(text, "%*[^']'%255[^']' in module '%511[^']'", name, module) == 2 &&
	    gb_js_source_find_name(&modules->sources, module, name, resolve_name, js, &place)) {
		snprintf(modules->specifier, sizeof modules->specifier, "%s", place.specifier);
		copy_name(modules->importer, sizeof modules->importer, place.importer);
		modules->line = place.line;
		modules->column = place.column;
	}
	JS_FreeCString(ctx, text);
	JS_FreeValue(ctx, message);
	JS_Throw(ctx, thrown);
}

void gb_js_modules_install(struct gb_js *js) {
	JS_SetModuleLoaderFunc2(js->runtime, resolve, load_any, check_attributes, js);
}

void gb_js_modules_open(struct gb_js *js, struct gb_js_modules *modules, const struct gb_job *job) {
	*modules = (struct gb_js_modules){.job = job, .imports = JS_UNDEFINED, .failure = JS_UNDEFINED};
	js->modules = modules;
}

JSModuleDef *gb_js_modules_enter(struct gb_js *js, JSContext **ret_failed_in) {
	struct gb_js_modules *modules = js->modules;
	enum source_kind kind = modules->job->flags & GB_JOB_LAST_VALUE ? PROGRAM : MODULE;
	JSModuleDef *entry =
	    read_source(js, modules->job->source, modules->job->filename.p, kind, ret_failed_in);
	if (!entry)
		return NULL;
	*ret_failed_in = js->guest;
	if (!JS_IsUndefined(modules->failure)) {
		throw_recorded_failure(js);
		return NULL;
	}
	return entry;
}

/* --- sessions --- */

void gb_js_modules_reopen(struct gb_js *js, struct gb_js_modules *modules, const struct gb_job *job) {
	struct gb_js_sources sources = modules->sources;
	JS_FreeValue(js->guest, modules->imports);
	JS_FreeValue(js->guest, modules->failure);
	free(modules->last_importer);
	free(modules->last_specifier);
	gb_js_modules_open(js, modules, job);
	modules->sources = sources;
}

JSValue gb_js_modules_enter_session(
    struct gb_js *js, const char *name, const struct gb_js_source **ret_source, JSContext **ret_failed_in) {
	*ret_failed_in = js->guest;
	const struct gb_js_source *source = prepare(js, js->modules->job->source, name, SESSION);
	if (!source)
		return JS_EXCEPTION;
	JSValue code =
	    gb_js_compile(js, source->compiled.p, source->compiled.n, name, GB_JS_SESSION, ret_failed_in);
	if (!JS_IsException(code))
		*ret_source = source;
	return code;
}
