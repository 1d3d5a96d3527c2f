enum E { A, B = "b", C = 2, D }
export default E
enum E { A = "a" + "b", B = `c`, C = `d${A}` }
export default E
enum E { A = 2 ** 3, B = 7 % 4, C = 7 / 2 }
export default E
enum A { X = 1 } enum B { Y = A.X, Z = A["X"] + 1 }
export default B
function f() { enum E { A, B } return E }
export default f()
enum E { A = +"3", B = !1 ? 2 : 4 }
export default [E.A, E.B]
export const enum E { A = 3 }
export default E.A
enum E { A = 3, B = A as number, C = <number>4, D = B! }
export default E
enum E { get = 1, set, async, static, default, class, in }
export default E
