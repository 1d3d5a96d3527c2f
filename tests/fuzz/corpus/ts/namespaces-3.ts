namespace N { export function f() { return g() } function g() { return 7 } }
export default N.f()
namespace N { export const a = 1 } namespace N { export const b = a + 1; export function f() { return a + b } }
export default [N.b, N.f()]
class C { static y = 1 } namespace C { export const x = C.y + 1 }
export default C.x
namespace N { export const { a, b: { c = 5 }, ...d } = { a: 1, b: {}, e: 2 } as any }
export default N
namespace N { export let a = 1; ({ a } = { a: 5 }); [a] = [a + 1] }
export default N.a
namespace N { export const a = 1; export const t = `${a}${a + 1}` }
export default N.t
namespace N { export async function f() { return 1 } export function* g() { yield 1 } }
export default [typeof N.f, [...N.g()]]
namespace N { const q = 3
export const { a } = { a: q } }
export default N
namespace N { export const x = 1; export namespace M { export const x = 2; export const y = x } }
export default N.M.y
namespace N { try { throw 1 } catch (e) { var r = e } export const x = r }
export default N.x
