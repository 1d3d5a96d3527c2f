/* Where the program is mounted in a room. */
#ifndef GB_RUNTIME_PROGRAM_PLACES_H
#define GB_RUNTIME_PROGRAM_PLACES_H

#define GB_PROGRAM_DIR  "/opt/glovebox"
#define GB_PACKAGES_DIR "/opt/glovebox/node_modules"

#endif
