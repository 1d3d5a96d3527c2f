/*---
description: The least that the tests beside need; written for them.
defines: [assert]
---*/
function assert(condition, message) {
  if (condition !== true)
    throw new Test262Error(message);
}
assert.sameValue = function (actual, expected, message) {
  assert(Object.is(actual, expected), message + ': ' + String(actual) + ' is not ' + String(expected));
};
