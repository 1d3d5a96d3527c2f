/*---
description: An early error.
negative:
  phase: parse
  type: SyntaxError
---*/
$DONOTEVALUATE();
let let = 1;
