/*---
description: The same, reviewed.
---*/
assert.sameValue(typeof InternalError, 'function', 'of the engine');
