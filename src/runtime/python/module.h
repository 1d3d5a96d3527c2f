/* The module _glovebox: C functions for the Python part of this worker. */
#ifndef GB_PYTHON_MODULE_H
#define GB_PYTHON_MODULE_H

#include <stdbool.h>

/* Call before the interpreter is initialised. */
bool gb_py_module_register(void);

#endif
