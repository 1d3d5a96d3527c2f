/* A worker that is asked "--version", and not started as a zygote, tells what it runs code with. */
#ifndef GB_RUNTIME_VERSION_H
#define GB_RUNTIME_VERSION_H

/* "@name @version", up to a blank. Returns the exit status. */
int gb_say_version(const char *name, const char *version);

#endif
