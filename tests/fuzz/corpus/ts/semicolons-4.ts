let a = b satisfies C
[d]
a as B
(c as D)
[e]
function f() { throw <A>
b }
const f = async <
T>(a: T) => a
if (a) b as C
else d
let a = { } as B
[c]
a
import type A from "x"
(b)
a
namespace N { export const x = 1 }
namespace N { export const y = 1 }
(b)
case_: { a as B }
type A = B
[c]
a = b as C
while (d);
namespace N { export const { a } = b as C
(d) }
