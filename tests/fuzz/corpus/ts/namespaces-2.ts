namespace N { export let x = 1; export function inc() { x++; return x } }
N.inc(); N.x = 10;
export default [N.inc(), N.x]
namespace A.B { export const c = 1 } namespace A.B { export const d = c + 1 }
export default A
function f() { return f.x } namespace f { export const x = 3 }
export default f()
namespace N { export type T = 1; export const x: T = 1 }
export default N
namespace N { export let a = 1; export const o = { a, b: a, ["a" + a]: a } }
export default N.o
namespace N { export const a = 1; function g(N) { return a + N } export const b = g(10) }
export default N.b
namespace A { export const x = 1 } export import B = A.x;
export default B
namespace N { const q = 3
export const [a] = [q] }
export default N
namespace N { export const x = 1; export namespace M { const x = 2; export const y = x } }
export default N.M.y
namespace N { export var a = 1; if (true) { var b = a + 1 } export const c = b }
export default N.c
namespace N { export namespace N { export const x = 1 } export const y = N.x }
export default N.y
