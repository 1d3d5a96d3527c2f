/*---
description: Does not tell its end.
flags: [async]
---*/
Promise.resolve();
