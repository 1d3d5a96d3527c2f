/*---
description: A helper that a test asks for.
defines: [twice]
---*/
function twice(number) {
  return 2 * number;
}
