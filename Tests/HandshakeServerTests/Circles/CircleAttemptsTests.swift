import Foundation
import HTTPTypes
import OAuth
import Testing

@testable import HandshakeServer

@Suite("How callers share the places for attempts to join")
struct CircleAttemptsTests {
    private let attempts = CircleAttempts(random: .system, capacity: Self.capacity)
    private static let capacity = 64
    private static let verifier = String(repeating: "v", count: 43)

    /// Begins an attempt, and returns its name.
    @discardableResult
    private func begin(_ address: String, at now: Double = 100) throws -> String {
        let network = try #require(CallerNetwork(address: address))
        return try attempts.begin(
            challenge: Array(MemberCircle.digest(Self.verifier)), isReplacing: false, from: network, at: now
        ).id
    }

    /// Begins attempts as fast as possible, and returns those that were begun.
    private func flood(_ count: Int, at now: Double = 100, _ address: (Int) -> String) throws -> [String] {
        var begun: [String] = []
        for number in 0..<count {
            do {
                begun.append(try begin(address(number), at: now))
            } catch let refusal as RequestRefusal {
                #expect(refusal.status == .tooManyRequests || refusal == .busy)
            }
        }
        return begun
    }

    private func running(_ names: [String], at now: Double = 100) -> [String] {
        names.filter { attempts.attempt($0, at: now) != nil }
    }

    @Test(
        "CI35: who fills all places, from however many networks, keeps no neighbour out, and takes none's place",
        arguments: [
            // A home line's /56, and a neighbour of the same /48; a /48, and one of the same /32; a /32.
            ("2001:db8:1:1*::", "2001:db8:1:200::"), ("2001:db8:1:*00::", "2001:db8:2::"),
            ("2001:db8:*::", "2001:db9::"),
            // A /64, and another one of the same /56; an address, and another one of the same /24; a /24; a /32 and IPv4.
            ("2001:db8:1:100::", "2001:db8:1:101::"), ("192.0.2.7", "192.0.2.8"), ("192.0.2.#", "192.0.3.1"),
            ("192.0.2.#", "2001:db8::"), ("2001:db8:*::", "192.0.2.1"),
        ])
    func neighbour(pattern: String, neighbour: String) throws {
        let address = { (number: Int) in
            let place = number % Self.capacity
            let hex = String(place + 256, radix: 16).dropFirst()
            return pattern.replacing("*", with: hex).replacing("#", with: "\(place)")
        }
        let first = try flood(Self.capacity, address)
        #expect(running(first).count == Self.capacity, "no other network wants a place")
        let honest = try (0..<20).map { _ in try begin(neighbour) }
        let more = try flood(300, address)
        #expect(running(honest).count == 20)
        #expect(running(first + more).count == Self.capacity - 20)
        // With half of all places the neighbour's network has as many.
        #expect(running(try flood(100) { _ in neighbour } + honest).count == Self.capacity / 2)
    }

    @Test("CI35: one address that has all places is told when the first is free, and then gets it")
    func wait() throws {
        _ = try flood(1) { _ in "192.0.2.1" }
        _ = try flood(Self.capacity - 1, at: 200) { _ in "192.0.2.1" }
        let refusal = #expect(throws: RequestRefusal.self) { try begin("192.0.2.1", at: 300.5) }
        #expect(refusal?.status == .tooManyRequests && refusal?.retryAfter == 400)
        #expect(throws: Never.self) { try begin("192.0.2.1", at: 700) }
    }

    @Test("CI35: while each network has one place, another one waits, and none loses its place")
    func noneToTake() throws {
        let others = try flood(Self.capacity) { "10.\($0).0.1" }
        #expect(throws: RequestRefusal.busy) { try begin("192.0.2.1") }
        #expect(running(others).count == Self.capacity)
        #expect(throws: Never.self) { try begin("192.0.2.1", at: 700) }
    }

    @Test("CI35: a network loses refused attempts first, and those whose user has signed in when no other is left")
    func order() throws {
        let names = try flood(Self.capacity) { _ in "192.0.2.1" }
        let applicant = CircleApplicant(number: 5, name: "Ada", batch: "", photo: nil)
        attempts.advance(names[0], at: 100, to: .approved(applicant)) { _ in true }
        attempts.advance(names[9], at: 100, to: .refused) { _ in true }
        try begin("198.51.100.1")
        #expect(running([names[9]]).isEmpty)
        let half = Self.capacity / 2
        for _ in 1..<half { try begin("198.51.100.1") }
        #expect(running(names).count == half && running([names[0]]).count == 1)
    }

    @Test("CI35: who has joined gives the place back, and the attempt ends")
    func givesBack() throws {
        let names = try flood(Self.capacity) { "10.\($0).0.1" }
        let applicant = CircleApplicant(number: 5, name: "Ada", batch: "", photo: nil)
        attempts.advance(names[0], at: 100, to: .approved(applicant)) { _ in true }
        let taken = try attempts.take(names[0], verifier: Self.verifier, at: 100)
        #expect(taken?.applicant.number == 5 && taken?.attempt.id == names[0])
        #expect(throws: RequestRefusal.self) { try attempts.take(names[0], verifier: Self.verifier, at: 100) }
        #expect(throws: Never.self) { try begin("192.0.2.1") }
        #expect(throws: RequestRefusal.busy) { try begin("192.0.2.2") }
    }
}
