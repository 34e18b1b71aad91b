/// An instant of a test's clock, as the duration since the clock began.
package struct TestInstant: InstantProtocol {
    package let offset: Duration

    package func advanced(by duration: Duration) -> TestInstant { TestInstant(offset: offset + duration) }
    package func duration(to other: TestInstant) -> Duration { other.offset - offset }
    package static func < (one: TestInstant, other: TestInstant) -> Bool { one.offset < other.offset }
}
