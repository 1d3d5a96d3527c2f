/*---
description: How an asynchronous test tells its end.
defines:
  - $DONE
---*/
function $DONE(error) {
  print(error ? 'Test262:AsyncTestFailure:' + String(error) : 'Test262:AsyncTestComplete');
}
