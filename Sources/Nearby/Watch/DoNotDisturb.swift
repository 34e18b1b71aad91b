public import Beacons
import Foundation
public import Handshake

/// Until when alerts are silent. Watching, listing and logging go on.
///
/// Stored in the vault, so that every watch of the user keeps to it.
public struct DoNotDisturb: Sendable {
    private let vault: any Vault
    private let key: VaultKey

    private struct Stored: Codable {
        let until: Double
    }

    /// - Parameters:
    ///   - vault: where it is stored.
    ///   - community: the namespace.
    public init(in vault: any Vault, community: String) {
        self.vault = vault
        key = VaultKey(.beaconSeed, [community, "quiet"])
    }

    /// When it ends: seconds since 1970; nil when alerts are shown.
    ///
    /// - Throws: ``NearbyError/vault(_:)``; `CancellationError`.
    public func end(at now: Double) async throws -> Double? {
        try await mappingVaultErrors {
            guard let bytes = try await vault.record(key),
                let stored = try? JSONDecoder().decode(Stored.self, from: Data(bytes)), stored.until > now
            else { return nil }
            return stored.until
        }
    }

    /// Silences alerts until a moment, or shows them again.
    ///
    /// - Parameter end: seconds since 1970; nil ends it.
    /// - Throws: ``NearbyError/vault(_:)``; `CancellationError`.
    public func set(until end: Double?) async throws {
        try await mappingVaultErrors {
            if let end {
                try await vault.replace(key, with: Array(try JSONEncoder().encode(Stored(until: end))))
            } else {
                _ = try await vault.remove(key)
            }
        }
    }
}

/// Shows alerts except while the user is not to be disturbed.
public struct QuietableAlerts: Alerts {
    private let base: any Alerts
    private let quiet: DoNotDisturb
    private let now: @Sendable () -> Double

    /// - Parameters:
    ///   - base: shows the alerts.
    ///   - quiet: says when not to.
    ///   - now: seconds since 1970.
    public init(_ base: any Alerts, except quiet: DoNotDisturb, now: @escaping @Sendable () -> Double) {
        self.base = base
        self.quiet = quiet
        self.now = now
    }

    public func show(_ alert: Alert) async { if await isLoud { await base.show(alert) } }
    public func show(_ crowd: CrowdAlert) async { if await isLoud { await base.show(crowd) } }
    public func withdraw(_ people: Set<UserNumber>) async { await base.withdraw(people) }
    public func withdrawAll() async { await base.withdrawAll() }

    /// A vault that cannot be read silences nothing.
    private var isLoud: Bool {
        get async {
            do {
                return try await quiet.end(at: now()) == nil
            } catch {
                return true
            }
        }
    }
}
