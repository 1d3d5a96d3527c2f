const a = b
type T = number
(c)
let a = b as C
/d/g
let a = b!
(c)
const f = (a): {
  b: C
} => a
function f() { return async <
T>(a: T) => a }
do a as B
while (c)
a = b as C /* comment */
(d)
a
enum E { A }
(b)
a
abstract class A { }
(b)
{ a as B }
type A =
  | B
  | C
(d)
for (const a of b as C)
d
