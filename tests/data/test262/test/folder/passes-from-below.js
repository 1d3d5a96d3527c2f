/*---
description: Imports from the folder above, both ways.
flags: [module]
---*/
import { count } from '../counter_FIXTURE.js';
const again = await import('../counter_FIXTURE.js');
assert.sameValue(again.count, count, 'the same module');
