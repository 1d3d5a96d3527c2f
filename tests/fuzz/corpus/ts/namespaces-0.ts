namespace N { export const a = 1; export let b = 2; export var c = 3 }
export default N
namespace A { export namespace B { export const c = 1 } }
export default A.B.c
namespace N { export enum E { A = 4 } } namespace N { export const a = E.A }
export default N.a
namespace N { }
export default typeof N
namespace N { export let a: number; a = 5 }
export default N
namespace N { export const N = 5; export const b = N + 1 }
export default N
namespace A { export const x = 1 } import B = A;
export default B.x
namespace N { export function f(a: string): void; export function f(a: any) { return a } }
export default N.f(3)
export namespace N { export const a = 1 } export namespace N { export const b = a }
export default N
namespace N { export function f() { return f.length } }
export default N.f()
namespace N { export const a = (x: number): number => x * 2; export const b = a(4) }
export default N.b
