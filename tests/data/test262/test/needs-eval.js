/*---
description: Evaluates text.
---*/
assert.sameValue(eval('1 + 1'), 2, 'eval');
