/*---
description: What a failed assertion throws, which is not an Error.
defines: [Test262Error, $DONOTEVALUATE]
---*/
function Test262Error(message) {
  this.message = message;
}
Test262Error.prototype.toString = function () {
  return 'Test262Error: ' + this.message;
};
function $DONOTEVALUATE() {
  throw 'evaluated all the same';
}
