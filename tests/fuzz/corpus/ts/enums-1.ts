enum E { A = 1, B, C = 10, D }
export default E
enum E { A = 0x10, B, C = 0b11, D, F = 0o17, G }
export default E
enum E { A = "x", B = A }
export default E
const s = "str"; enum E { A = s, B = 1 }
export default E
enum E { A, }
export default E
enum E { toString = 1, constructor = 2 }
export default [E[1], E[2]]
enum E { A = 5, B = ((E) => E + A)(1) }
export default [E.A, E.B]
enum E { a = 1, b = { a }.a }
export default E.b
enum Color { Red = "RED", Green = "GREEN" }
function name(c: Color): string { switch (c) { case Color.Red: return "r"; default: return "?" } }
export default name(Color.Red)
