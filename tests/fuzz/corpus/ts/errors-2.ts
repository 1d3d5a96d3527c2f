class A { constructor(private) : { }
