import { a, b } from "x"; a; let c: b;
import a, * as b from "x"; a;
import { type A } from "x";
import { type as as as } from "x"; as;
import type { A, B } from "x";
import a from "x" with { type: "json" }; a;
import { A } from "x"; f<A>(b);
import { A } from "x"; b.A;
import { A } from "x"; function f(A) { return A }
import { A } from "x"; (A) => A;
import { A } from "x"; let { A: b } = c;
import { A } from "x"; export { A as B };
import { A } from "x"; enum B { A, C = A }
import { A } from "x"; switch (A) { }
