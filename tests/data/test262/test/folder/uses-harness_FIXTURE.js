import { count } from '../counter_FIXTURE.js';
assert.sameValue(count, 0, 'evaluated first');
export const seen = typeof Test262Error;
