/*
 * The tool core.execute: the body of a function in, {"output": text} out. Never fails: a refusal or an error is a text,
 * too. docs/CORE_EXECUTE.md is its reference.
 */
#ifndef GB_FACE_CORE_EXECUTE_H
#define GB_FACE_CORE_EXECUTE_H

#include "face/tool.h"

extern const struct gb_tool gb_tool_core_execute;

#endif
