/* glovebox-python */
#include <Python.h>

#include "runtime/python/worker.h"
#include "runtime/version.h"

int main(int argc, char **argv) {
	(void)argv;
	if (argc > 1)
		return gb_print_version("Python", Py_GetVersion());
	return gb_zygote_main(&gb_py_worker);
}
