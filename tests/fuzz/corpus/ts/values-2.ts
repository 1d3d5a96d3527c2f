const a = 1, b = 2, c = 3;
export default a + b as number * c
const a = false, b = 1;
export default (a ? (b) : c => c + 1)(3)
class A { m(x: string): string; m(x: number): number; m(x: any) { return x } }
export default new A().m(7)
function f() { return <any>
5 }
export default f()
const x: any = null;
export default x?.a!.b
import { A } from "nowhere"; function f(A: number) { return A }
export default f(2)
const o = { async: 1, get: 2, type: 3, as: 4, of: 5, declare: 6 }; const { async, get, type, as, of, declare } = o;
export default [async, get, type, as, of, declare]
const x = 10;
export default `${x as number}${`${x! + 1}`}`
export default await (async <T>(x: T): Promise<T> => x)(6)
