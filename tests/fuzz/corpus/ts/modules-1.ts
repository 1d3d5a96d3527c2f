import a from "x";
import a, { b } from "x"; a;
import * as a from "x"; let b: a.C;
import { type } from "x"; type;
import { default as a } from "x"; a;
import type, { a } from "x"; type; a;
import { A } from "x"; interface B extends A { }
import { A } from "x"; b = typeof A;
import { A } from "x"; class B { [A] = 1 }
import { A } from "x"; { let A = 1; } A;
import { A } from "x"; (class A { m() { A } });
import { A } from "x"; ({ A: b } = c);
import type { A } from "x"; export { A, B };
import { A } from "x"; `${A}`;
