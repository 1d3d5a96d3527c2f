import { a } from "x"; a;
import a, { b } from "x"; b;
import "x";
import { type as } from "x"; as;
import { "a-b" as c } from "x"; c;
import type from from "x";
import { A } from "x"; let b = c as A;
import { A } from "x"; b = { A };
import { A } from "x"; class B { declare [A]: 1 }
import { A } from "x"; for (const A of b) A;
import { A } from "x"; function f() { if (b) { var A } A }
import { A } from "x"; ({ b: A } = c);
import { A } from "x"; declare let b: typeof A; declare function f(a: A): void;
import { A } from "x"; `${b as A}`;
