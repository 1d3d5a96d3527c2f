/*---
description: A module that is asked for as data must not run as a program.
flags: [module]
---*/
let refused = 'nothing';
try {
  await import('./runs_FIXTURE.js', { with: { type: 'json' } });
} catch (error) {
  refused = error.name;
}
assert.sameValue(refused, 'TypeError', 'refused with');
assert.sameValue(globalThis.hasRun, undefined, 'was run');
