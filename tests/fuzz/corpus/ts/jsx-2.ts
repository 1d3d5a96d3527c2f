x = <a>b{c}<d-e f/>&nbsp;g;</a>; y = <T,>(z) => <p>it's</p>
let h = <any>i; // </any>
j: = 1