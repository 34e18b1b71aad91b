import TestFixtures
import Testing

/// What runs the built command, in a folder of each test's own.
@Suite("The built command", .heavy)
struct CommandTests {}
