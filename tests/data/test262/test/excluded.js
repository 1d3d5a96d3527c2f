/*---
description: Left out by the engine's configuration.
---*/
assert(false, 'was run');
