let a = b as C
(d)
a as B
++c
function f() { return <A>(
b) }
const f = <T,
U>(a: T) => a
function f<
T
>(a) { }
() => a as B
(c)
import type A from "x"
(b)
a
namespace N { }
(b)
a = <B>c
(d)
declare let a
(b)
interface A {
  b: C
  (d)
}
(e)
let a = b as any (d)
