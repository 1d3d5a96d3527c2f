enum E { A = "a", B = "b" }
export default E
enum E { A = "x".length, B = Math.max(1, 2) }
export default E
enum E { A = (1 + 2) * 3, B }
export default E
const n = 3; enum E { A = n, B = n + 1, C = n * 2 }
export default E
enum E { A, /* c */ B, // d
 C }
export default E
enum E { A = 1 | 2, B = A << 4, C = (A | B) & ~1 }
export default E
export enum E { A }
export default E.A
enum E { A = 9007199254740992, B }
export default E
enum E { A = 1 }
type K = keyof typeof E; const k: K = "A";
export default E[k]
