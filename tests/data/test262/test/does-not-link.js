/*---
description: Imports a name that is not exported.
flags: [module]
negative:
  phase: resolution
  type: SyntaxError
---*/
$DONOTEVALUATE();
import { missing } from './counter_FIXTURE.js';
