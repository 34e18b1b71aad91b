import Beacons
import Testing

@testable import Radio

@Suite("The list of a scan in the background")
struct ExpectedServicesTests {
    private let start = Timestamp(clampingMicroseconds: 1_767_225_600_000_000)

    private func uuid(_ number: Int) throws -> RollingUUID {
        let digits = String(number, radix: 16)
        return try #require(
            RollingUUID("b3fe9844-9dfa-4470-ae08-" + String(repeating: "0", count: 12 - digits.count) + digits))
    }

    private func list(_ numbers: some Sequence<Int>, until seconds: Int) throws -> ExpectedServices {
        ExpectedServices(try numbers.map(uuid), until: start.advanced(by: .seconds(seconds)))
    }

    @Test("CI58: the first hundred are looked for, each once")
    func limit() throws {
        let all = try list(Array(0..<60) + Array(0..<150), until: 900)
        #expect(all.uuids == (try (0..<100).map(uuid)))
    }

    @Test("CI58: it is renewed when its time is over, and the system is told of another list only")
    func renewal() throws {
        var scan = ExpectedScan()
        #expect(scan.isDue(at: start))
        #expect(scan.take(try list([1, 2], until: 900)) == [try uuid(1), try uuid(2)])
        #expect(!scan.isDue(at: start.advanced(by: .seconds(899))))
        #expect(scan.pause(at: start.advanced(by: .seconds(600))) == .seconds(300))
        #expect(scan.isDue(at: start.advanced(by: .seconds(900))), "also after the app has slept")
        #expect(scan.take(try list([1, 2], until: 1_800)) == nil, "the same ones")
        #expect(!scan.isDue(at: start.advanced(by: .seconds(900))))
        #expect(scan.take(try list([2, 1], until: 1_800)) == [try uuid(2), try uuid(1)])
        #expect(scan.take(try list([], until: 1_800)) == [], "it stops")
    }

    @Test("CI58: a scan that the system has restored, or that Bluetooth has ended, begins again with the same list too")
    func restored() throws {
        var scan = ExpectedScan()
        _ = scan.take(try list([1], until: 900))
        scan.interrupt()
        #expect(scan.take(try list([1], until: 900)) == [try uuid(1)])
        #expect(scan.take(try list([1], until: 900)) == nil)
    }

    @Test("CI58: a list that is over already, or a clock that was set, does not make it renew without a pause")
    func pauses() throws {
        var scan = ExpectedScan()
        #expect(scan.pause(at: start) == ExpectedScan.shortestPause)
        _ = scan.take(try list([1], until: -900))
        #expect(scan.isDue(at: start) && scan.pause(at: start) == ExpectedScan.shortestPause)
    }
}
