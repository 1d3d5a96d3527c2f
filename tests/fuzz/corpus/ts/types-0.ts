let a: number = 1;
let a: typeof b = b;
let a: unique symbol = s;
let a: A extends [infer U extends string, ...infer R] ? U : never = b;
let a: { +readonly [K in keyof T as `get${K}`]+?: () => T[K]; } = b;
let a: (A | B)[] = b;
let a: () => asserts this = b;
let a: ({ x }: { x: number }) => void = b;
let a: object & { b: 1 } = c;
let a: [] = [];
let a: typeof b[number] = b;
function f<T extends keyof U, U = { x: 1 }>(a: T, b: U): asserts a is T { return; }
function f(): a is string { return x; }
let a = function <T>(x: T): T { return x; };
