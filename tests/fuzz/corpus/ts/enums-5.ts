enum E { A = -1, B, C }
export default E
enum E { ["a"], ['b'] = 2, [`c`] }
export default E
enum E { A = "s" } enum E { B = A }
export default E
enum E { A = 1e3, B, C = 1_000, D }
export default E
{ enum E { A = 1 } var r = E.A }
export default r
enum E { A, B, A2 = A }
export default [E[0], E[1], E.A2]
let A = 10; enum E { A = 1, B = A }
export default E.B
enum E { 'A' = 1, B = A + 1 }
export default E
