const f = (a: number) => (b: number): number => a + b;
export default f(1)(2)
class A { constructor(public a: number) { } } class B extends A { constructor(a: number, public b: number) { super(a * 2); this.b += 1 } }
export default new B(1, 2)
class A { get: string = "g"
set: number
foo() { return 1 } }
export default [Object.keys(new A()), new A().foo()]
const f = async <
T>(a: T) => a
export default typeof f
const id = <T>(x: T) => x; const n = id<number>;
export default n(4)
type A = 1
const a = 5
interface B { }
;[a]
export default a
var r = ""; for (const c of <string[]>["a", "b"]) r += c!; for (let i = 0 as number; i < 2; i++) r += i; for (const k in { q: 1 } as object) r += k;
export default r
const [a = 1 as number, { b = <number>2 }]: any = [undefined, {}];
export default [a, b]
