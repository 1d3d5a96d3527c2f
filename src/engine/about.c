/* The sandbox layers around the code of a language. */
#include "engine/engine.h"

size_t gb_engine_layers(
    const struct gb_engine *engine, enum gb_language language, const char **ret, size_t n) {
	enum gb_runtime runtime = GB_RUNTIME_JS;
	struct gb_err err;
	if (!gb_runtime_find(engine, language, NULL, &runtime, &err) || !engine->pools[runtime])
		return 0;
	return gb_pool_layers(engine->pools[runtime], ret, n);
}
