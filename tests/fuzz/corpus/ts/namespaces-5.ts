namespace N { export enum E { A, B = 5 } export const x = E.B }
export default [N.x, N.E]
namespace N { export class A { } } namespace N { export const a = new A() instanceof A }
export default N.a
namespace N { export type T = number; export interface I { } }
export default typeof N
namespace N { export let a, b = 1, c: number, d = 2; }
export default N
namespace N { export const a = 1; export const f = () => a; export const g = function () { return a } }
export default [N.f(), N.g()]
namespace A { export namespace B { export const x = 1 } } import C = A.B; import D = C.x;
export default [C.x, D]
namespace N { export declare const z: number; export const a = 1 }
export default N
export namespace N { export const a = 1 }
export default N.a
namespace N { export class A { static z = 1; m() { return A.z } } }
export default new N.A().m()
namespace N { export const a = { b: 1 }; export const c = a.b + a["b"] + (a?.b ?? 0) }
export default N.c
