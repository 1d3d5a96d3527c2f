/*---
description: Has its meaning only outside strict mode.
flags: [noStrict]
---*/
with ({ answer: 42 })
  assert.sameValue(answer, 42, 'with');
