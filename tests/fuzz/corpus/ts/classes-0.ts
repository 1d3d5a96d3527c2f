class A<T> extends B<T> implements C, D<E> { }
class A { constructor(); constructor(a?: number) { } }
class A { #a: number; #b?: string; static #c = 1; #d(): void { } get #e(): number { return 1 } }
class A { get() { } set() { } static() { } async() { } readonly() { } declare() { } abstract() { } public() { } }
abstract class A { abstract a: number; abstract b(): void; protected abstract get c(): number; abstract set c(v: number); d() { } }
export default class extends A<B> { }
class A extends B { constructor(private a: number) { super(a)
foo() } }
class A { constructor(private a: () => void = () => { class B extends C { constructor(private d) { super() } } }) { foo() } }
class A { a: number
["b"]: string }
class A { static: X
foo() { } }
class A { a() { } b: X; c() { } d!: Y }
class A { public }
class A { private constructor(a?: number) { } }
