const f = <T,>(x: T): T => x;
export default f<number>(3)
const a = true, b = 1;
export default typeof (a ? (b) : c => c)
abstract class A { abstract v(): number; twice() { return this.v() * 2 } } class B extends A { v() { return 4 } }
export default new B().twice()
const g = function* (): Generator<number> { yield 1 as number; yield <number>
2 }
export default [...g()]
const x: any = { a: { b: [1, 2] } };
export default x!.a!.b![1]!
import { type A } from "nowhere"; export type { A };
export default 1
let x = 0; const i = x++ as number
++x
export default [i, x]
const a = 5, b = 2;
export default [a / b as number / 2, a! / b!, /a\/b/.test("a/b" as string)]
enum Dir { Up = 1, Down } const d: Dir = Dir.Up; const names: Record<Dir, string> = { [Dir.Up]: "u", [Dir.Down]: "d" };
export default names[d]
