/*
 * Errors: every function of Glovebox that can fail takes a struct gb_err.
 *
 *	struct gb_err err = {0};
 *	if (!gb_engine_create(NULL, &engine, &err))
 *		fprintf(stderr, "%s\n", err.message);
 *
 * A gb_err is plain data of a fixed size: it owns no memory and needs no release.
 * A function writes it only when it fails.
 */
#ifndef GLOVEBOX_ERR_H
#define GLOVEBOX_ERR_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum gb_err_code {
	GB_OK = 0,
	GB_EINVAL,  /* an argument is wrong; the message names it */
	GB_ENOENT,  /* a file, program or object does not exist */
	GB_ENOMEM,  /* the host is out of memory */
	GB_ELIMIT,  /* a limit of Glovebox was reached; the message names it */
	GB_EBUSY,   /* the resource is in use; the call may be retried */
	GB_EFORMAT, /* the bytes are not valid CBOR, JSON or frames */
	GB_EWALL,   /* a layer of the sandbox could not be set up; no code was run */
	GB_ESYSTEM, /* a system call failed */
};

#define GB_ERR_MESSAGE_MAX 480
#define GB_ERR_FIELD_MAX   48

struct gb_err {
	enum gb_err_code code;
	int sys_errno; /* 0 when no system call was involved */
	char message[GB_ERR_MESSAGE_MAX];
	/* The name of the invalid member of the options, such as "globals", and the offset of its explanation
	 * in the message: the message is "globals: must be an object", possibly with a context before it.
	 * "" and 0 if the error does not concern a member. */
	char field[GB_ERR_FIELD_MAX];
	unsigned detail;
};

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
