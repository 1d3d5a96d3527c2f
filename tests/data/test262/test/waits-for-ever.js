/*---
description: A module that nobody wakes.
flags: [module]
---*/
await new Promise(() => {});
