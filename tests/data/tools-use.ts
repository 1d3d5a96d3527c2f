// How code uses the functions: each line that is marked is an error of the compiler, all others are none.
const use = async () => {
  await echo_tool({ text: 'x' });
  // @ts-expect-error
  await echo_tool({});
  // @ts-expect-error
  await echo_tool({ text: 5 });
  await none();
  await none({ any: 1 });
  await anything('x');
  // @ts-expect-error
  await forbidden({});
  await closed();
  // @ts-expect-error
  await closed({ a: 1 });
  await optional();
  await optional({ a: 1 });
  await list_things({ a: 'x' });
  await list_things_2({ b: 'x' });
  await list_things_3({ c: 'x' });
  await delete_2();
  await _2fast();
  await union({ v: null, list: ['a', 1] });
  // @ts-expect-error
  await union({ list: [true] });
  await enums({ color: 'red', list: ['a'] });
  // @ts-expect-error
  await enums({ color: 'blue' });
  // @ts-expect-error
  await enums({ list: ['c'] });
  await constants({ kind: 'x' });
  // @ts-expect-error
  await constants({ kind: 'y' });
  await any_of({ v: ['a'], list: ['a', 'b'] });
  // @ts-expect-error
  await any_of({ list: ['c'] });
  await one_of_root({ id: 'x' });
  // @ts-expect-error
  await one_of_root({});
  await beside_any_of({ common: 'x', a: 1 });
  // @ts-expect-error
  await beside_any_of({ common: 'x' });
  await all_of({ a: 'x', b: 1 });
  // @ts-expect-error
  await all_of({ b: 1 });
  await tuple({ point: [1, 2], open: ['a', 1, 2], old: ['a', 1], empty: [] });
  // @ts-expect-error
  await tuple({ point: [1] });
  // @ts-expect-error
  await tuple({ point: [1, 2, 3] });
  await maps({ a: 1 });
  // @ts-expect-error
  await maps({ a: 'x' });
  await recursive({ value: 1, next: { value: 2, children: [{ value: 3 }] } });
  // @ts-expect-error
  await recursive({ value: 1, next: {} });
  await union_cycle({ j: ['a', 1, { b: ['c'] }] });
  // @ts-expect-error
  await union_cycle({ j: [true] });
  await twice({ from: { lat: 1, lon: 2 }, to: { lat: 1, lon: 2 } });
  // @ts-expect-error
  await twice({ to: { lat: 1 } });
  // @ts-expect-error
  await pointer({ b: { x: 'x' } });
  await nullable({ a: null, b: [null] });
  const { rows } = await with_result({ q: 'x' });
  const id: number = rows[0]!.id;
  // @ts-expect-error
  const wrong: string = rows[0]!.id;
  return [id, wrong];
};
void use;
