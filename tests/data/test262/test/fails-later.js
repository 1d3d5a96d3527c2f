/*---
description: Tells of a failure from a job.
flags: [async]
---*/
Promise.reject('a reason').then($DONE, $DONE);
