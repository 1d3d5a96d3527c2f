/*---
description: Wants an early error and has none.
negative:
  phase: parse
  type: SyntaxError
---*/
$DONOTEVALUATE();
