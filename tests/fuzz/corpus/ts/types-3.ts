let a: (x: number, ...y: string[]) => void = f;
let a: typeof b<string> = b;
let a: A extends B ? C : D = b;
let a: { [K in keyof T]: T[K] } = b;
let a: -1 | 1n | -1n | "x" | true | null | undefined | void = b;
let a: A<<T>(x: T) => T> = b;
let a: is = b;
let a: { async: string, await: number, type: T; of: U } = b;
let a: [...A, ...B] = c;
let a: ((a: number) => void)[] = b;
let { a, b: c = 1 }: { a: string; b?: number } = d, [e]: number[] = f;
function f(a: number = 1, { b }: { b: string } = {}, [c]: any[] = []) {}
try { } catch (e: unknown) { }
var a: number, b: string;
