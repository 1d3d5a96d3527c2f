/*---
description: A script's declarations are properties of the global object.
---*/
var declared = 1;
assert.sameValue(globalThis.declared, 1, 'a global');
