enum E { A, B, C }
export default E
enum E { A = 1.5, B }
export default E
enum E { A = 1, B = A, C = B + 1, D }
export default E
const enum E { A, B = 5, C }
export default [E.A, E.B, E.C, E[5]]
enum E { }
export default E
enum E { A = 1, B = E.A + 1, C = E["B"] + 1 }
export default E
enum E { E = 1, F = E }
export default [E.E, E.F]
enum E { A = 1, B = ((A) => A)(7) }
export default E.B
enum E { A = NaN, B = Infinity, C = -Infinity }
export default [Object.keys(E).length]
