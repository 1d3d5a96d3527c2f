/*---
description: Asks the host for another realm.
---*/
assert.sameValue(typeof $262.createRealm(), 'object', 'a realm');
