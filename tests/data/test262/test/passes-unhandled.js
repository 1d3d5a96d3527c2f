/*---
description: Leaves a rejected promise behind, which is no failure of the test.
---*/
Promise.reject(new TypeError('nobody cares'));
