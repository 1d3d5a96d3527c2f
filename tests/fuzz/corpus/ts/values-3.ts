const a = 2, b = 3;
export default -a as number ** b
class A { constructor(public x: number, private y = 2, readonly z?: string) { } sum() { return this.x + this.y } }
export default [new A(1), new A(1, 5).sum(), Object.keys(new A(1))]
class A { private x = 1
public ["y"] = 2
z = 3 as any
["w"] = 4 }
export default new A()
const f = (a: number): {
  b: number
} => ({ b: a })
export default f(2)
const m = new Map<string, Array<number>>([["a", [1]]]);
export default [...m]
interface I { a: number } type J = I; export { J }; export type { I };
export default 1
let type = 1; type = 2; let declare = 3; declare
type
export default [type, declare]
label: for (const a of [1] as number[]) { continue label }
export default 1
const f = (a, b?: number) => [a, b]; f satisfies Function;
export default f(1)
