/*---
description: Uses what the engine's configuration does not name.
features: [telepathy]
---*/
guess();
