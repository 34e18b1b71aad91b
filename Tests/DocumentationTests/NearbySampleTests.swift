import Foundation
import Testing

/// `Examples/Nearby-iOS`, which is type-checked and cannot be run here: what it does and says is read.
@Suite("The iOS sample of Nearby")
struct NearbySampleTests {
    /// A function of the class that has the decisions.
    private func source(of function: String) throws -> String {
        let file = "Examples/Nearby-iOS/Nearby.swiftpm/Sources/Companion.swift"
        let text = try String(contentsOf: Repository.root.appending(path: file), encoding: .utf8)
        let begin = try #require(text.range(of: "    func \(function)("))
        let end = try #require(text.range(of: "\n    }\n", range: begin.upperBound..<text.endIndex))
        return String(text[begin.lowerBound..<end.upperBound])
    }

    @Test("CI59: who hides on iOS without a network is told that nothing is sent until the circle's server is reached")
    func hiding() throws {
        let hide = try source(of: "hide")
        #expect(hide.contains("until then nothing is sent for that circle"))
        #expect(hide.components(separatedBy: "+ silence").count == 3, "also after the sign-in has ended")
        #expect(hide.contains("circles(of: person"), "which throws for a table that cannot be read")
    }

    @Test("reads a circle again that has failed, so that its section says why")
    func failure() throws {
        let file = "Examples/Nearby-iOS/Nearby.swiftpm/Sources/Companion.swift"
        let text = try String(contentsOf: Repository.root.appending(path: file), encoding: .utf8)
        #expect(text.contains("case .circleFailed: await refresh()"))
    }

    @Test("removes a friend with what belongs to the friend, and tells that the others need new keys")
    func unfriending() throws {
        let unfriend = try source(of: "unfriend")
        // RollingKeys.removeFriend would leave the friend's photo.
        #expect(unfriend.contains("stored(try await open()).unfriend(person)"))
        #expect(unfriend.contains("your other friends: they need new keys"))
    }

    @Test("drops the photos and waves of the members of a circle that the user leaves")
    func leaving() throws {
        let leave = try source(of: "leave")
        #expect(leave.contains("photos = [:]") && leave.contains("waves.removeAll { members?.contains($0.person)"))
    }
}
