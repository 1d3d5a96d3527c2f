class A { a: number; b?: string; c!: boolean; readonly d = 1; static e: number = 2; private static readonly f: string; }
class A { async a(): Promise<void> { } *b(): Generator { } async *c<T>(x: T) { } }
class A { a = (b: C): D => e; f = <T>(x: T) => x; g = async (h: I) => j }
class A { static static: number; static get: string; readonly readonly = 1; public public: X; private get get(): 1 { return 1 } }
export default abstract class A { abstract a(): void }
class A { constructor(public a = 1, protected readonly b: string = "x", readonly c?: D, e?: F) { this.x = 1; } }
class A { constructor(private a: number) { "use strict"; foo(); } }
class A { constructor(private, public) { } }
class A { a = b
private *c() { } }
class A { a = b
declare c: X
["d"] = e }
class A { ;; a: number;; b: string; }
class A { declare?: X; type!: Y }
