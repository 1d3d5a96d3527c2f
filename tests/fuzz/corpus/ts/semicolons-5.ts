let a = b as C
`d`
a!
(b)
function* f() { yield <A>
b }
function f() { return <T,
U>(a: T) => a }
if (a) type_ = 1
else b
a = b as C

// comment
(d)
a
export type A = 1
(b)
a
function f(): void
function f() { }
(b)
function f() { a as B }
type A = B
(c)
throw a as B
(c)
x = <A>
b!
c
