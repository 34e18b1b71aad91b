import Beacons
import Circles
import Foundation
import Handshake
import Nearby
import Observation

/// A pairing with a person beside the user: one screen shows a code, the other scans it, and both compare six digits.
@MainActor @Observable
final class Pairing {
    enum Step: Hashable {
        case choosing
        /// The text of the code for the other device.
        case showing(String)
        case connecting
        /// The digits of this screen.
        case comparing(String)
        case done(String)
        case failed(String)
    }

    private(set) var step = Step.choosing
    /// What the other person reads where the user is in no circle, which has a name.
    @ObservationIgnored var name = ""
    @ObservationIgnored private var typed: CheckedContinuation<String, Never>?

    private static var now: UInt64 { UInt64(max(0, Companion.now)) }

    /// Shows a code, and pairs with who scans it.
    func show(in vault: any Vault) async {
        await attempt(in: vault) {
            let session = PairingSession(offeringAt: Self.now)
            let listener = try PairingListener()
            step = .showing(session.code.at(.ipv4(listener.address, port: listener.port)).text)
            return try await exchange(session, { try await listener.accept(within: Self.timeout) }, vault)
        }
    }

    /// Pairs with who shows a code.
    func scan(_ text: String, in vault: any Vault) async {
        await attempt(in: vault) {
            let code = try PairingCode(text)
            step = .connecting
            let (session, first) = try PairingSession.join(code, at: Self.now)
            switch code.address {
            case .ipv4(let bytes, let port)?, .ipv6(let bytes, let port)?:
                let channel = try await PairingChannel.connect(to: bytes, port: port)
                try await channel.send(first)
                return try await exchange(session, { channel }, vault)
            case nil: throw PairingProblem.malformed
            }
        }
    }

    /// The user has typed the digits of the other screen; a text that is none ends the pairing.
    func compare(_ digits: String) {
        typed?.resume(returning: digits.filter(\.isNumber))
        typed = nil
    }

    private static var timeout: Int { Int(PairingSession.timeout) }

    /// Counts failures: after three, pairing rests for ten minutes.
    private func attempt(in vault: any Vault, _ body: @MainActor () async throws -> String) async {
        let attempts = PairingAttempts(in: vault, community: Companion.community)
        do {
            try await attempts.begin(at: Companion.now)
            do {
                step = .done(try await body())
                try await attempts.note(success: true, at: Companion.now)
            } catch {
                try await attempts.note(success: false, at: Companion.now)
                throw error
            }
        } catch is CancellationError {
            step = .choosing
        } catch {
            step = .failed("\(error)")
        }
    }

    /// Runs the protocol to its end.
    ///
    /// - Parameter connect: gives the next device that connects.
    /// - Returns: the person's name.
    private func exchange(
        _ session: PairingSession, _ connect: @MainActor () async throws -> PairingChannel, _ vault: any Vault
    ) async throws -> String {
        var session = session
        let end = Self.now + UInt64(Self.timeout)
        var channel = try await connect()
        while session.digits == nil {
            do {
                // Who has scanned the code sends immediately.
                let message = try await channel.receive(within: session.state == .offered ? 10 : Self.timeout)
                if let reply = try session.receive(message, at: Self.now) { try await channel.send(reply) }
            } catch  where session.state == .offered && Self.now < end && !(error is CancellationError) {
                // Who connects without the code ends nothing.
                channel = try await connect()
            }
        }
        guard let digits = session.digits, let scope = session.scope else { throw PairingProblem.malformed }
        guard await other(than: digits) == digits else {
            try? await channel.send(session.cancel(.differentDigits))
            throw CircleError.pairing(.differentDigits)
        }
        let keys = RollingKeys(in: vault, community: Companion.community)
        let own = try await JoinedCircle.all(
            in: CircleEnvironment(vault: vault, community: Companion.community)
        ).first?.summary()
        let card = try await keys.pairingCard(
            in: scope, number: own?.number, name: own?.name ?? name, at: Timestamp.now())
        try await channel.send(try session.confirm(with: card, at: Self.now))
        while session.card == nil {
            _ = try session.receive(try await channel.receive(within: Self.timeout), at: Self.now)
        }
        guard let received = session.card else { throw PairingProblem.malformed }
        _ = try await keys.addPaired(received, at: Timestamp.now())
        return received.name
    }

    /// What the user types of the other screen, so that the two are really compared.
    private func other(than digits: String) async -> String {
        step = .comparing("\(digits.prefix(3)) \(digits.suffix(3))")
        return await withTaskCancellationHandler {
            await withCheckedContinuation { typed = $0 }
        } onCancel: {
            Task { @MainActor in self.compare("") }
        }
    }
}
