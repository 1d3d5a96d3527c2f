let a: abstract new () => object = f;
let a: keyof typeof b = b;
let a: A extends (infer U)[] ? U : never = b;
let a: { -readonly [K in keyof T]-?: T[K] } = b;
let a: & A & B = b;
let a: (x) => x is string = b;
let a: (x?: number, { y, z }: Q, [w]: R) => void = b;
let a: { new: string; new(): X; } = b;
let a: [first: string, ...rest: (string | undefined)[]] = c;
let a: typeof this.x = b;
function f<in T, out U, in out V>() {}
function f(): { a: 1 } { return x; }
for (let i: number = 0, j = 1; i < j; i++) { }
let x: (a: T) => a is T extends U ? 1 : 2;
