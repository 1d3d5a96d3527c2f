let a: new (...args: any[]) => object = f;
let a: import("x", { with: { "resolution-mode": "import" } }).Y = b;
let a: A extends B ? C : D extends E ? F : G = b;
let a: { readonly [K in keyof T]?: T[K] } = b;
let a: | A | B & C = b;
let a: (this: Foo, x: number) => asserts x is string = b;
let a: infer_ = b;
let a: { "quoted": 1; 12: 2; [Symbol.iterator](): X; [key]: number } = b;
let a: [a: string, b?: number] = c;
let a: A | (() => B) | C = d;
const a = <const T,>(x: T) => x;
async function* f<T>(a: T): AsyncGenerator<T> { yield a; }
for (const x: number of y) { }
let x: T extends U ? (a: V) => W : never;
