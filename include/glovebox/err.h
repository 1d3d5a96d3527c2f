/*
 * Errors, as every fallible function of Glovebox reports them.
 *
 *	struct gb_err err = {0};
 *	if (!gb_engine_create(NULL, &engine, &err))
 *		fprintf(stderr, "%s\n", err.message);
 *
 * A gb_err is plain data of a fixed size: it owns nothing and needs no release.
 * It is written only when a function fails.
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
	GB_ENOENT,  /* something needed is not there */
	GB_ENOMEM,  /* the host is out of memory */
	GB_ELIMIT,  /* a limit of ours was reached; the message names it */
	GB_EBUSY,   /* everything there is is in use just now; it may be tried again */
	GB_EFORMAT, /* bytes that should be CBOR, JSON or a frame are not */
	GB_EWALL,   /* a layer of the wall could not be raised; nothing was run */
	GB_ESYSTEM, /* a system call failed */
};

#define GB_ERR_MESSAGE_MAX 480
#define GB_ERR_FIELD_MAX   48

struct gb_err {
	enum gb_err_code code;
	int sys_errno; /* 0 when no system call was involved */
	char message[GB_ERR_MESSAGE_MAX];
	/* The member of the options that is wrong, such as "globals", and where in the message that is
	 * explained: the message is "globals: must be an object", or has a context before that. "" and 0 if
	 * the error is about no member. */
	char field[GB_ERR_FIELD_MAX];
	unsigned detail;
};

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
