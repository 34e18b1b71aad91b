import Beacons
import Crypto
import Foundation
import Handshake
import OAuth

/// What the server must still be told: a device is signed out, or a member leaves. It outlives everything else of the circle.
struct CircleFarewell: Sendable, Codable {
    let address: String
    /// Secret.
    let bearer: String
    let isLeaving: Bool
    /// Seconds since 1970; the bearer is of no use afterwards.
    let expires: Int64

    /// Tells the servers what they must still be told. What cannot be sent now stays.
    ///
    /// - Returns: whether something stays.
    @discardableResult
    static func deliver(
        in vault: any Vault, community: String, transport: any Transport, at now: Double
    ) async -> Bool {
        var remains = false
        for key in (try? await vault.keys(of: .circle).keys) ?? [] {
            let parts = key.components
            guard parts.count >= 3, parts[0] == community, parts[2] == "farewell",
                let bytes = try? await vault.record(key),
                let farewell = try? JSONDecoder().decode(CircleFarewell.self, from: Data(bytes))
            else { continue }
            guard await farewell.deliver(over: transport, at: now) != .pending else {
                remains = true
                continue
            }
            try? await vault.update(key) { record in
                // Another process may have stored a later one meanwhile.
                guard await record.contents == bytes else { return }
                try await record.remove()
            }
        }
        return remains
    }

    /// Tells the servers what they must still be told, from a watch that runs, until the task is cancelled.
    ///
    /// Whatever restarts the watch, it begins a minute after that. What cannot be sent is tried again a quarter of an hour to half an
    /// hour later, until the bearer expires. Otherwise it looks again when tables would be fetched.
    ///
    /// - Throws: `CancellationError` alone.
    static func keepDelivering(in environment: CircleEnvironment) async throws {
        var pause = JoinedCircle.restartPause
        while true {
            try await environment.time.clock.sleep(for: .seconds(pause))
            let remains = await deliver(
                in: environment.vault, community: environment.community, transport: environment.transport,
                at: environment.time.now())
            pause = environment.random(remains ? JoinedCircle.retryPause : JoinedCircle.pause)
        }
    }

    /// Tells the server. Also one that would be too late is sent: this device's clock may be off.
    ///
    /// - Returns: whether the server knows it. Where the bearer is of no use any more, it cannot be told that the user leaves, and
    ///   need not be told that the device is signed out.
    func deliver(over transport: any Transport, at now: Double) async -> JoinedCircle.Delivery {
        do {
            var server = try CircleServer(address, transport: transport, bearer: Secret(bearer))
            // Commands that have nothing to do with the server wait for it.
            server.limits.timeout = .seconds(5)
            _ = try await server.send(.delete, isLeaving ? "v1/me" : "v1/me/token", expecting: [204])
            return .delivered
        } catch CircleProblem.signedOut {
            return .signedOut
        } catch CircleProblem.removed {
            return .delivered
        } catch {
            return Double(expires) < now ? .signedOut : .pending
        }
    }
}

extension CircleRecords {
    /// Remembers that the server must still be told of a sign-out or of leaving.
    func rememberFarewell(_ farewell: CircleFarewell) async throws {
        try await vault.replace(key("farewell"), with: Array(try JSONEncoder().encode(farewell)))
    }

    /// Remembers that the server must still be told to end the sign-in of a refused join.
    ///
    /// In a record of its own: the bearer may be another member's, and that member's sign-out must not replace it. Where it cannot be
    /// stored, the bearer stays valid until it expires.
    func rememberRefusedJoin(_ farewell: CircleFarewell) async {
        let digest = Beacons.Hexadecimal.encode(SHA256.hash(data: Array(farewell.bearer.utf8)))
        // In a task of its own: the join may have been cancelled.
        let storing = Task {
            try await vault.replace(key("farewell", digest), with: Array(try JSONEncoder().encode(farewell)))
        }
        try? await storing.value
    }

    /// As ``rememberFarewell(_:)``, unless the server must still be told that the user leaves: that signs every device out.
    func rememberSignOut(_ farewell: CircleFarewell) async throws {
        try await vault.update(key("farewell")) { record in
            let bytes = await record.contents
            let stored = bytes.flatMap { try? JSONDecoder().decode(CircleFarewell.self, from: Data($0)) }
            guard stored?.isLeaving != true else { return }
            try await record.replace(with: Array(try JSONEncoder().encode(farewell)))
        }
    }
}
