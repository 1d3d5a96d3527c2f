let a: = 1;
