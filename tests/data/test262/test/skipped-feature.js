/*---
description: Uses what the engine does not have.
features: [time-travel]
---*/
yesterday();
