/* The sandbox layers around the code of a language. */
#include "engine/engine.h"

size_t gb_engine_layers(
    const struct gb_engine *engine, enum gb_language language, const char **ret, size_t n) {
	enum gb_runtime runtime = GB_RUNTIME_JS;
	struct gb_err err;
	if (!gb_runtime_find(engine, language, NULL, &runtime, &err) || !engine->pools[runtime])
		return 0;
	unsigned up = gb_pool_layers(engine->pools[runtime]);
	size_t count = 0;
	for (int i = 0; i < GB_LAYER_COUNT; i++)
		if (up & 1u << i) {
			if (count < n)
				ret[count] = gb_layer_name((enum gb_layer)(1u << i));
			count++;
		}
	return count;
}
