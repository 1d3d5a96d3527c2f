/*---
description: Wants an error of the engine's own, which runs do not have; nobody has reviewed that.
---*/
assert.sameValue(typeof InternalError, 'function', 'of the engine');
