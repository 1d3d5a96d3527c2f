class A implements B { }
class A { "constructor"(a: number) { } }
class A { declare a: number; declare readonly b: string; c = 1 }
class A { get = 1; set = 2; static = 3; async = 4; readonly = 5; declare = 6; abstract = 7; public = 8; type = 9 }
abstract class A<T> { abstract [a]: T; private abstract b; static abstract_ = 1 }
class A { constructor(a: number, b?: string) { } }
class A extends B { constructor(private a: number) { try { super(a); } catch (e) { } foo() } }
x = class { constructor(private a) { } };
class A { a = 1 as any
["b"] = 2 }
class A { async: X
foo() { } }
class A { public async a(): Promise<void> { } private static async *b() { } }
class A { public; private }
class A { private constructor(); private constructor(a?: number) { } static x: A }
