x = <a.b c="d" {...e}>f{g.map(h => <i j={k}/>)}</a.b>; <T>l
if (1) enum E { A } else namespace N { export declare var m: 1; m }
let n: = <></>