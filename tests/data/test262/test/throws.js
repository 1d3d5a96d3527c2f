/*---
description: Ends with an error that is no Error.
negative:
  phase: runtime
  type: Test262Error
---*/
throw new Test262Error('on purpose');
