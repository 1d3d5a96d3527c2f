const a = b
interface I { }
[c]
let a = b as C
+d
return_ = <A>
b
const f = async (a): Promise<
B> => a
f<
A
>(b)
if (a) interface_
else b
a = b as C // comment
(d)
a
enum E { A }
enum E { B = 1 }
(b)
export default a as B
(c)
x = y as T
;(z)
let x: A
[y]
a = (b as C)
(d)
