namespace N { export class A { v = 1 } export function make() { return new A().v } }
export default [N.make(), typeof N.A]
namespace N { export function f() { return 1 } } namespace N { export const g = f() + 1 }
export default N.g
enum E { A, B } namespace E { export function parse(s: string) { return E[s as any] } }
export default [E.parse("B"), E.B]
namespace N { export const [a, , b = 3, ...c] = [1, 2, undefined, 4, 5] }
export default N
namespace N { export let a = 1; for (a of [1, 2, 3]); export const b = a }
export default N.b
namespace A { export const x = 1 } namespace B { export import y = A.x; import z = A.x; export const w = z + y }
export default B
namespace N { export abstract class A { abstract x: number; y = 1 } export class B extends A { x = 2 } }
export default new N.B()
module M { export const a = 1 }
export default M
namespace N { export const x = 1 } namespace N { const x = 5; export const y = x }
export default N.y
namespace N { export const a = 1; label: for (;;) { break label } export const b = { a: a }.a }
export default N.b
