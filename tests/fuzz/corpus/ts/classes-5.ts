class A { a(): void; a(x?: number): void { } }
class A { [k: string]: any; static [k: number]: string; readonly [k: symbol]: 1; a = 1 }
class A { get; set; static; async; readonly; declare; abstract; public; private; accessor; override; of; type }
class A { "a": number; 1: string; 1n: X; 'b'() { } 2(): void { } }
export default class A<T> { a: T }
class A extends B { constructor(private a: number) { foo(); super(a) } }
class A { constructor(private a: number) { class B { constructor(public c: number) { } } } }
class A { m<T extends keyof A>(k: T): A[T] { return this[k] } }
class A { get: X
foo() { } }
class A { a = {}
private [b] = 1 }
class A { override a: B = c; override readonly d; static override e() { } }
class A<in T, out U, const V> { }
