type A;
