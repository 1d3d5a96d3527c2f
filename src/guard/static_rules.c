#include "guard/static_rules.h"

#include "base/cleanup.h"

#define NO_MODULES "Code is one piece: take what it needs as an argument, or use built-in objects."
#define NO_STRINGS "Write the code itself; JSON.parse reads data."
#define NO_EXIT    "Return the value, or throw an Error."

const struct gb_guard_rule gb_guard_js_rules[] = {
    {"import(", "loads modules at run time", NO_MODULES},
    {"require(", "loads modules", NO_MODULES},
    {"eval(", "runs text as code", NO_STRINGS},
    {"Function(", "runs text as code", NO_STRINGS},
    {"child_process", "starts programs", "There are none: compute the result, or ask for a tool."},
    {"process.exit", "ends the process", NO_EXIT},
    {"process.kill", "ends processes", NO_EXIT},
    {"globalThis", "gives access to all global objects", "Name the object directly."},
    {"__proto__", "changes prototypes", "Use Object.create or a class."},
    {"constructor[", "finds functions by a computed name", "Call the class by its name."},
};
const size_t gb_guard_js_rules_count = GB_COUNT(gb_guard_js_rules);

bool guard_rule_at(const struct guard_search *search, size_t index, struct gb_guard_rule *ret) {
	if (index < search->n_rules) {
		*ret = search->rules[index];
		return true;
	}
	index -= search->n_rules;
	if (index >= search->n_more)
		return false;
	*ret = (struct gb_guard_rule){
	    search->more[index], "is refused by the owner's settings", "Do it without this."};
	return true;
}
