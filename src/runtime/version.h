/* "--version" of a worker that is started directly, not as a zygote: prints the version of its
 * interpreter. */
#ifndef GB_RUNTIME_VERSION_H
#define GB_RUNTIME_VERSION_H

/* Print "@name @version", where @version ends at the first blank. Returns the exit status. */
int gb_print_version(const char *name, const char *version);

#endif
