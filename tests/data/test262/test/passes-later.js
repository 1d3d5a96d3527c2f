/*---
description: Tells its end from a job.
flags: [async]
---*/
import('./counter_FIXTURE.js').then(({ count }) => assert.sameValue(count, 0, 'its export')).then($DONE, $DONE);
