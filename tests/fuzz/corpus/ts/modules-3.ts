import { a } from "x"; let b: a;
import a, { b } from "x";
import {} from "x";
import { type as as } from "x"; as;
import type A from "x";
import type A = require("x");
import { A } from "x"; let b = <A>c;
import { A } from "x"; b = { A: 1 };
import { A } from "x"; A: for (;;) break A;
import { A } from "x"; try { } catch (A) { A }
import { A } from "x"; function f() { { let A } A }
import { A } from "x"; export { A };
import { A } from "x"; enum B { C = A }
import { A } from "x"; A`b`;
