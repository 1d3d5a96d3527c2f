/*---
description: Makes a function from text.
---*/
assert.sameValue(new Function('return 2')(), 2, 'a function constructor');
