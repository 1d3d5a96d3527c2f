let a: { b: number;
