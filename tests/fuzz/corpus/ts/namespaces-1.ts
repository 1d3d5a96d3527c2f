namespace N { export const a = 1; export const b = a + 1; const c = 5; export const d = c + b }
export default N
namespace A.B.C { export const d = 1 }
export default A.B.C.d
namespace N { export enum E { A = 4 } } namespace N { export enum E { B = A + 1 } }
export default N.E
namespace N { export namespace M { export type T = 1 } }
export default typeof N
namespace N { export let a = 1; { let a = 2; a++ } function f(a) { return a } export const r = [a, f(9)] }
export default N.r
namespace N { export class N { x = 1 } export const y = new N().x }
export default N.y
namespace A { export interface X { } } import B = A.X; let b: B = {};
export default typeof b
namespace N { export const a = 1
export const b = 2
}
export default N
namespace N { let x = 1; export namespace M { export const y = x + 1 } }
export default N.M.y
namespace N { export let i = 0; export const f = { get v() { return i++ }, set v(x) { i = x } } }
N.f.v; N.f.v; 
export default N.i
namespace N { export const a = 1 as number, b = <number>2 }
export default N
