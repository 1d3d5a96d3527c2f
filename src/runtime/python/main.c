/* glovebox-python */
#include "runtime/python/worker.h"

int main(void) {
	return gb_zygote_main(&gb_py_worker);
}
