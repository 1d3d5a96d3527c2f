/*---
description: Fails everywhere, and is known to.
---*/
assert.sameValue(2 + 2, 5, 'two and two');
