/* The module _glovebox: what C does for the parts of this worker that are written in Python. */
#ifndef GB_PYTHON_MODULE_H
#define GB_PYTHON_MODULE_H

#include <stdbool.h>

/* Before the interpreter is made. */
bool gb_py_module_register(void);

#endif
