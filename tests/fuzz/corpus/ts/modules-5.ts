import { a, b } from "x"; b; let c: a;
import a, * as b from "x"; b;
import { type A, b } from "x"; b;
import { type as a } from "x"; a;
import type * as A from "x";
import { A } from "x"; class B extends A { }
import { A } from "x"; new B<A>();
import { A } from "x"; b?.A;
import { A } from "x"; function f(b = A) { var A }
import { A } from "x"; A => A;
import { A } from "x"; let { b = A } = c;
import { A } from "x"; export default A;
import { A } from "x"; namespace N { A; }
import { A } from "x"; import B = A.C; B;
