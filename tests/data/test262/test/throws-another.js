/*---
description: Wants one error and throws another.
negative:
  phase: runtime
  type: RangeError
---*/
throw new TypeError('not the one');
