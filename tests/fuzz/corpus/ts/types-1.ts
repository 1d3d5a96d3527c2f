let a: string | null = null, b: number[] = [], c: [x: number, y?: string, ...z: boolean[]] = d;
let a: typeof b.c.d = b;
let a: readonly string[] = [];
let a: A extends { x: infer U extends number ? 1 : 2 } ? U : never = b;
let a: `a${string}b${number}` = b;
let a: Map<string, Array<Set<number>>> = b;
let a: this = b;
let a: (new () => X) | (() => Y) = b;
let a: Foo.Bar.Baz<Qux>[] = c;
let a: {} = {};
let a: (typeof b)[number] = b;
function f(this: Window, a?: number, ...rest: string[]): void {}
function f(): this is string { return x; }
let a = { f<T>(x: T): T { return x; }, async *g(x: number) { }, get h(): number { return 1; }, set h(v: number) { }, [k](): void { } };
