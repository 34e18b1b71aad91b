import Testing

@testable import WeatherMyWay

@Suite("The limit of copies in the web sample")
struct CopyLimitTests {
    private let limit = CopyLimit()

    @Test("C07: a user has five files copied within five minutes, whatever the addresses, and no other user fewer")
    func user() {
        for number in 0..<5 { #expect(limit.admits("ada", to: "\(number)@example.test", now: Double(number))) }
        #expect(!limit.admits("ada", to: "5@example.test", now: 299.9))
        #expect(limit.admits("grace", to: "5@example.test", now: 299.9))
        // What was refused does not count; the first copy counts no more.
        #expect(limit.admits("ada", to: "6@example.test", now: 300))
        #expect(!limit.admits("ada", to: "7@example.test", now: 300.5))
    }

    @Test("C07: five files are copied for an address within five minutes, in whatever case it is written")
    func address() {
        for number in 0..<5 { #expect(limit.admits("\(number)", to: "Ada@example.test", now: 0)) }
        #expect(!limit.admits("5", to: "ada@EXAMPLE.test", now: 299))
        #expect(limit.admits("5", to: "ada@EXAMPLE.test", now: 300))
    }

    @Test("C07: 500 files are copied within five minutes")
    func everyone() {
        for number in 0..<500 { #expect(limit.admits("\(number)", to: "\(number)@example.test", now: 0)) }
        #expect(!limit.admits("500", to: "500@example.test", now: 299))
        #expect(limit.admits("500", to: "500@example.test", now: 300))
    }
}
