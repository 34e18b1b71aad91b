import TestFixtures
import Testing

/// What runs the built command. One after the other: each process starts two cores' worth of threads.
@Suite("The built command", .serialized, .heavy)
struct CommandTests {}
