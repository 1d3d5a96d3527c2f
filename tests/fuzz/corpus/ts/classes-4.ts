class A { public a; private b = 1; protected c: number; override d() { } public static e() { } static public f() { } }
class A { [a]: number; [b]?: string; [c]() { } static [d]: number = 1; }
class A { a?(): void { } b!: number; c?; d!; }
class A { a: number = 1 as any; b = <any>2; c = d!; }
export default abstract class { }
class A extends B { constructor(private a: number) { super(a); this.x = 1; } }
class A { x = 1; constructor(override readonly a: number) { } y = 2; }
class A { m(this: A, a: number): this is B { return true } }
class A { a
readonly b }
class A { a = b
abstract c(): void
*d() { } }
class A { readonly #a: number = 1; static readonly b?: C }
class A { in: X; out: Y; new: Z; class: W; function() { } }
