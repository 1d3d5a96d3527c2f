const t = true;
export default t ? (x: number) => x : 1 ? "no" : "never"
class A { x = 1; constructor(public y: number) { } z = 3 }
export default Object.keys(new A(2))
class A { #p: number = 1; get p(): number { return this.#p } static is(x: unknown): x is A { return #p in (x as A) } }
export default [new A().p, A.is(new A())]
const f = () => <any>{ a: 1 }
export default f()
function tag<T>(s: TemplateStringsArray, ...v: T[]) { return s.join("|") + v }
export default tag<number>`a${1}b`
const a = [1]
type T = number
;[0].forEach(() => { })
export default a
function f(this: { v: number }, a?: number) { return this.v + (a ?? 1) }
export default f.call({ v: 2 })
const f = ({ a, b = 2 }: { a: number; b?: number }, [c]: number[] = [3], ...d: number[]): number => a + b + c + d.length;
export default f({ a: 1 }, undefined, 9, 9)
