import a from "x"; a;
import { a, b, c } from "x"; b;
import * as a from "x"; a.b;
import { type A as B, c as d } from "x"; d;
import { type type } from "x";
import type from "x"; type;
import { A } from "x"; class B implements A { }
import { A } from "x"; let b: typeof A;
import { A } from "x"; class B { A = 1; #A = 2; static A() { } }
import { A } from "x"; { let A = 1; A }
import { A } from "x"; (function A() { A });
import { A } from "x"; let { [A]: b } = c;
import { type A } from "x"; export { A };
import { A } from "x"; namespace N { export const A = 1; A; }
