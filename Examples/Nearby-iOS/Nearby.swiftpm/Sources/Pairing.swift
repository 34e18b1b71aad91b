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

    /// Shows a code, and pairs with who scans it.
    func show(in vault: any Vault) async {
        await attempt(in: vault) {
            let exchange = PairingExchange(offeringOver: try PairingConnection())
            step = .showing(exchange.code.text)
            return exchange
        }
    }

    /// Pairs with who shows a code.
    func scan(_ text: String, in vault: any Vault) async {
        await attempt(in: vault) {
            let code = try PairingCode(text)
            guard let address = code.address else { throw PairingProblem.malformed }
            step = .connecting
            return try PairingExchange(joining: code, over: try await PairingConnection.connect(to: address))
        }
    }

    /// The user has typed the digits of the other screen; a text that is none ends the pairing.
    func compare(_ digits: String) {
        typed?.resume(returning: digits.filter(\.isNumber))
        typed = nil
    }

    /// Counts failures: after three, pairing rests for ten minutes. A code that cannot be used is none.
    private func attempt(in vault: any Vault, _ begin: @MainActor () async throws -> PairingExchange) async {
        let attempts = PairingAttempts(in: vault, community: Companion.community)
        do {
            try await attempts.begin(at: Companion.now)
            let exchange = try await begin()
            do {
                step = .done(try await finish(exchange, vault))
                try await attempts.note(success: true, at: Companion.now)
            } catch {
                try? await attempts.note(success: false, at: Companion.now)
                throw error
            }
        } catch is CancellationError {
            step = .choosing
        } catch {
            step = .failed("\(error)")
        }
    }

    /// Runs the protocol to its end, and stores the person's keys.
    ///
    /// - Returns: the person's name.
    private func finish(_ exchange: PairingExchange, _ vault: any Vault) async throws -> String {
        let keys = RollingKeys(in: vault, community: Companion.community)
        let own = try await JoinedCircle.all(
            in: CircleEnvironment(vault: vault, community: Companion.community)
        ).first?.summary()
        let ownName = own?.name ?? name
        let received = try await exchange.finish(
            isSame: { digits in await other(than: digits) == digits },
            card: { scope in
                try await keys.pairingCard(in: scope, number: own?.number, name: ownName, at: Timestamp.now())
            })
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
