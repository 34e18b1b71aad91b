/// How often this thread has asked for memory since it began; -1 where that cannot be counted.
///
/// The program that links this has its own `malloc` and its kin, which count and hand on to the C library's.
long allocation_count(void);
