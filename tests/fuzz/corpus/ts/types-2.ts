let a: { x: number; y?: string; readonly z: boolean; [k: string]: any; (): void; new (): Date; m<T>(x: T): T };
let a: typeof import("x") = b;
let a: T[K]["x"][number] = b;
let a: (<V>() => V extends T ? 1 : 2) extends <V>() => V extends U ? 1 : 2 ? true : false = b;
let a: `a${`b${"c"}`}` = b;
let a: Array<Array<Array<number>>>= b;
let a: asserts = b;
let a: { get x(): number; set x(v: string); get: number; set(): void; readonly: boolean } = b;
let a: string.length = c;
let a: (A) = b;
let a!: number;
function f(this: Window): void {}
function isT(x: unknown): x is T & { y: 1 } { return true; }
let a = { async: 1, get: 2, set: 3, type: 4, as: 5, async get() { }, get get() { return 1; } };
