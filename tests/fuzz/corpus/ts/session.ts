import d, { a as b, type T, "x-y" as c } from "m"
import * as n from './n.js'
import "bare"
import type { U } from "u"
export const x: number = 1, { y, z: [w] } = { y: 1, z: [2] }
export default class extends Object {}
abstract class K<T> { abstract f(): T }
export { x as q }
let v
const enum E { A }
export default { v }
