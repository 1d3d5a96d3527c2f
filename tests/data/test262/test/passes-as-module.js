/*---
description: Imports a file, itself, and a file in another folder that uses the harness before this line runs.
flags: [module]
---*/
import { count, add } from './counter_FIXTURE.js';
import * as self from './passes-as-module.js';
import { seen } from './folder/uses-harness_FIXTURE.js';
add();
assert.sameValue(count, 1, 'a live binding');
assert.sameValue(Reflect.ownKeys(self).length, 2, 'its own export and the tag of a namespace');
assert.sameValue(seen, 'function', 'the harness is there for everybody');
export const own = 1;
