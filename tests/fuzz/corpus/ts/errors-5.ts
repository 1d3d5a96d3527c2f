let a: A<B;
