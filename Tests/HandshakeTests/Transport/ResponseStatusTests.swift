import Testing

@testable import Handshake

@Suite("The statuses of responses")
struct ResponseStatusTests {
    @Test(
        "C9: on every platform a status outside 100 to 599 is refused before a library has it",
        arguments: [.min, -1, 0, 1, 99, 600, 999, 1000, 1100, .max] as [Int])
    func outside(code: Int) throws {
        #expect(try #require(ResponseStatus.problem(with: code)).contains("the status \(code) is not an HTTP status"))
    }

    @Test("C9: every status of HTTP is taken but a switch of protocols, for which no request asks")
    func inside() {
        #expect(Set(100...599).filter { ResponseStatus.problem(with: $0) != nil } == [101])
    }
}
