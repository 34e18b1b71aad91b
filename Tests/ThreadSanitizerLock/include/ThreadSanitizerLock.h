// The library has no interface: linking it is what it is for.
