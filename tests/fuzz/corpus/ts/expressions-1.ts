a as const;
<A>b;
!<A>b;
(<any>a).b = 1;
a ** b as number ** c;
a instanceof B as C;
a ? (b): c => d : e;
a ? (b ? (c) : d => e) : f;
a ? function (): B { return c } : d;
f<A>`b${c as D}`;
const a = f<A>, b = g<B>;
new (a as B)();
f < a, b > (c);
if (a < b && c > d) { }
