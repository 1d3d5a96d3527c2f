/*---
description: Fails everywhere, unknown to the list.
---*/
assert.sameValue(2 + 2, 6, 'two and two');
