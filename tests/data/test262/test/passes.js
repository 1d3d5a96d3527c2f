/*---
description: A plain test, with a helper.
includes: [twice.js]
features: [arrow-function]
---*/
assert.sameValue(twice(21), 42, 'a helper');
