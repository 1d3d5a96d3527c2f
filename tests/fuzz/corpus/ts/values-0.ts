const a: number = 1, b = 2 as number;
export default a + b
const a = true, b = 1, c = 2;
export default a ? (b) : c
class A { a?: number; b!: string; declare c: number; static d: number = 1 }
export default [Object.keys(new A()), A.d]
let a = 1 as number
;[a] = [5]
export default a
export default ({ a: 1 } satisfies object as any).a
import { T } from "nowhere"; import type U from "nowhere"; import * as V from "nowhere"; const x: T | U | V.W = 1;
export default x
const a = { b: 1 }
declare const z: number
(() => { })()
export default a
function f(x: unknown): asserts x is string { if (typeof x !== "string") throw new TypeError("no") }
let r; try { f(1) } catch (e: unknown) { r = (e as Error).message }
export default r
const a = 3 as any;
export default [a < 5, a > 1, a << 1, a >> 1, a >>> 1, a >= 3, a <= 3]
