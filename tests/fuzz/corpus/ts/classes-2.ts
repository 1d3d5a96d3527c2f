class implements { }
class A { get a(): number { return 1 } set a(v: number) { } static get b(): string { return "" } }
class A { static { let a: number = 1; } static a: number }
class A { get: number; set: string; static: boolean; readonly: X; declare: Y }
export abstract class A { }
class A { constructor(private a: number) { } }
class A extends B { constructor(private a: number) { if (a) { super(a); } } }
class A { constructor(readonly) { } }
class A { a = 1
public ["b"] = 2 }
class A { get?
foo() { } }
class A { static async: number; static get async(): X { return 1 } }
class A { readonly?: boolean; static?: number; get?: X }
class A { export: number; default: string }
