/* glovebox-python */
#include <Python.h>

#include "runtime/python/worker.h"
#include "runtime/version.h"

int main(int argc, char **argv) {
	(void)argv;
	if (argc > 1)
		return gb_version_print(gb_py_worker.version);
	return gb_zygote_main(&gb_py_worker);
}
