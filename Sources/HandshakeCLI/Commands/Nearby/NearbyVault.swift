#if CommandLine
import Foundation
import Handshake
import Nearby

/// The vault as `nearby` uses it: without what has expired, and without the plain files of earlier versions.
enum NearbyVault {
    /// Opens the vault.
    static func open(_ common: CommonOptions) async throws -> any Vault {
        try await open(common, try Settings.load())
    }

    /// Opens the vault.
    static func open(_ common: CommonOptions, _ settings: Settings) async throws -> any Vault {
        let vault = try await common.openVault(settings)
        try removeFormerFiles(settings)
        // What cannot be read is reported by the command that needs it.
        _ = try? await stored(in: vault).expire(at: Now.seconds)
        await stored(in: vault).deliverFarewells(over: .platform, at: Now.seconds)
        return vault
    }

    /// What circles need.
    static func environment(_ vault: any Vault, time: TimeSource = .system) -> CircleEnvironment {
        CircleEnvironment(vault: vault, community: NearbyCommand.community, time: time, alerts: standingAlerts(vault))
    }

    /// What the user is recognised by.
    static func scopes(_ vault: any Vault) async throws -> OwnScopes {
        try await NearbyFailure.reported {
            try await OwnScopes(in: vault, community: NearbyCommand.community, at: Now.timestamp)
        }
    }

    /// The vault for a run that stores what it hears, until everyone is forgotten.
    static func period(_ vault: any Vault) async throws -> PeopleVault {
        try await PeopleVault.open(vault, community: NearbyCommand.community)
    }

    /// Removes everything about people nearby when an account is signed out.
    static func forgetEveryone(in vault: any Vault, _ settings: Settings) async throws -> StoredPeople.Deletion {
        try removeFormerFiles(settings)
        let deletion = try await NearbyFailure.reported { try await stored(in: vault).forgetEveryone() }
        await stored(in: vault).deliverFarewells(over: .platform, at: Now.seconds)
        return deletion
    }

    /// Everything that is stored of people; what stands on the desktop about who is forgotten is closed.
    static func stored(in vault: any Vault) -> StoredPeople {
        StoredPeople(in: vault, community: NearbyCommand.community, alerts: standingAlerts(vault))
    }

    private static func standingAlerts(_ vault: any Vault) -> any Alerts {
        AlertPlace.standing(ShownNotices(in: vault, community: NearbyCommand.community))
    }

    /// Earlier versions stored profiles and photos as plain files. They can be fetched again.
    private static func removeFormerFiles(_ settings: Settings) throws {
        let folder = settings.home + "/people"
        guard FileManager.default.fileExists(atPath: folder) else { return }
        do {
            try FileManager.default.removeItem(atPath: folder)
        } catch {
            throw CommandError(
                status: .vault, code: "file_failed",
                message:
                    "The unencrypted profiles of an earlier version cannot be removed. Remove this folder: \(folder)")
        }
    }
}
#endif
