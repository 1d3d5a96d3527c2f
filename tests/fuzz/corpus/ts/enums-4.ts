enum E { A = 1 << 0, B = 1 << 1, C = A | B, D = ~A, F = A & B, G = A ^ B }
export default E
enum E { "a-b", "c d" = 5, 'e' }
export default E
enum E { A = 1 } enum E { B = A + 1, C }
export default E
enum A { X = "x" } enum B { Y = A.X }
export default B
function f() { enum E { A } enum E { B = 5 } return E }
export default f()
enum E { A = ((x) => x * 2)(4), B = [1, 2].length }
export default E
export enum E { A } export enum E { B = 4 }
export default E
enum E { A = -0x10, B }
export default E
enum E { ä = 1, 日本 }
export default E
