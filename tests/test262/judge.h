/*
 * Verdicts. What came of a test, in the sandbox or in the plain engine, is an outcome; whether that is what
 * the test wants is a verdict; and two verdicts side by side make a category, which is what the run counts.
 */
#ifndef GB_TEST262_JUDGE_H
#define GB_TEST262_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "test262/meta.h"

enum { T262_TEXT_MAX = 400 };

enum t262_stage {
	T262_BROKEN,  /* no answer: it crashed, hung or ran out of memory */
	T262_LINK,    /* it did not parse or link */
	T262_RUN,     /* it threw */
	T262_PENDING, /* it waits for ever */
	T262_DONE,
};

struct t262_outcome {
	enum t262_stage stage;
	char text[T262_TEXT_MAX];      /* "Name: message" of what stopped it */
	bool completed, failed;        /* what an asynchronous test has printed */
	char said[T262_TEXT_MAX];      /* with which words it failed */
	bool rejected;                 /* the plain engine only: a promise was rejected and not handled */
	char unhandled[T262_TEXT_MAX]; /* with what */
};

/* A line that the test has printed. */
void t262_outcome_hear(struct t262_outcome *outcome, struct gb_str line);

/* The host decides about unhandled rejections: the sandbox fails the run at its end, the plain engine goes on.
 * If @plain had a rejection that explains the failure of @sandbox, change @sandbox to the outcome of @plain. */
void t262_outcome_excuse_rejection(struct t262_outcome *sandbox, const struct t262_outcome *plain);

/* Is it what the test wants? If not, @why (of T262_TEXT_MAX) says what is wrong. */
bool t262_judge(const struct t262_meta *meta, const struct t262_outcome *outcome, char *why);

enum t262_category {
	T262_PASSED,
	T262_ENGINE,     /* fails in the plain engine too */
	T262_CLOSED,     /* needs what the sandbox does not have, on purpose */
	T262_SKIPPED,    /* says nothing here: not run, or only of meaning as a script */
	T262_REGRESSION, /* passes in the plain engine, and should have here */
	T262_CATEGORIES,
};

struct t262_verdicts {
	bool sandbox, plain;
	bool plain_script; /* passes in the plain engine as a script; asked only of what fails as a module */
	bool closed;       /* there is a reason for it to fail in the sandbox */
};

enum t262_category t262_compare(struct t262_verdicts verdicts);

#endif
