const a = b
declare let d
`c`
let a: B
(c)
function f() { return <A>
b }
const f = (a) /* x
 */ : B => a
new A<
B>(c)
for (;;) a as B
c
let a = b as
C
(d)
a
namespace N { export const x = 1 }
(b)
var a = b as C
var d
let a = b as C;
(d)
abstract class A { abstract b: C
["d"] = 1 }
let a = b as C
(d)
