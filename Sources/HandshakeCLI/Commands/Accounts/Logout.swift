#if CommandLine
import ArgumentParser
import Handshake
import IFTTTConnect
import OAuth

struct Logout: BoundedCommand {
    static let configuration = CommandConfiguration(
        abstract: "Revoke the account's tokens where the service can, then remove the account.")

    @Argument(help: "The account.")
    var account: String

    @Flag(help: "Only remove the account here; the tokens stay valid until they expire.")
    var local = false

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let vault = try await common.existingVault(try Settings.load())
        try await forgetPlaces(in: vault)
        // Each account has a registration of its own: with the account it is of no more use (RFC 7592, section 2.3).
        let client = local ? nil : try? await Registrations(in: vault).client(named: account)
        let report = local ? try await forget(in: vault) : try await signOut(in: vault)
        if report.isForgotten {
            if let client { await DiscoveredResource.unregister(client) }
            try await Registrations(in: vault).forget(account)
        }
        print(report)
        if let failure = report.failure {
            throw CommandError(
                status: ExitStatus(failure), code: failure.code,
                message:
                    "\(failure) The account is kept, but cannot be used. Finish with: handshake logout \(account)\n"
                    + "Or remove it without revoking its tokens: handshake logout \(account) --local")
        }
    }

    /// Removes where a user of IFTTT was, before the account, so that a failure leaves a command that does it.
    private func forgetPlaces(in vault: any Vault) async throws {
        do {
            guard try await Registrations(in: vault).client(named: account)?.service.name == Service.ifttt.name else {
                return
            }
        } catch HandshakeError.vault(.damaged) {
            // Whose account it is can no longer be told.
            guard local else { return }
        }
        try await IFTTTFailure.reported { try await PlacesSynchronizer.forget(account, in: vault) }
    }

    private func signOut(in vault: any Vault) async throws -> SignOutReport {
        try await KnownAccount.open(account, in: vault).account.signOut()
    }

    /// Removes the account without the service, also a damaged one.
    private func forget(in vault: any Vault) async throws -> SignOutReport {
        do {
            guard let client = try await Registrations(in: vault).client(named: account) else {
                throw try await KnownAccount.absent(account, in: vault)
            }
            try await Handshake(client, vault: vault).forget(account)
        } catch HandshakeError.vault(.damaged) {
            // The client is unreadable, but accounts can be found by their names.
            for key in try await vault.keys(of: .account).keys where AccountID(key)?.name == account {
                try await vault.remove(key)
            }
        }
        return SignOutReport()
    }

    private func print(_ report: SignOutReport) {
        if common.json {
            Output.result(
                JSONText.object([
                    ("account", .string(account)), ("forgotten", .bool(report.isForgotten)),
                    ("revoked", .array(report.revoked.map { .string($0.rawValue) })),
                    ("not_revocable", .array(report.notRevocable.map { .string($0.rawValue) })),
                    ("remaining", .array(report.remaining.map { .string($0.rawValue) })),
                ]).text)
            return
        }
        if !report.revoked.isEmpty { Output.note("Revoked: \(report.revoked.map(\.words).joined(separator: ", ")).") }
        if !report.notRevocable.isEmpty {
            Output.note(
                "The service cannot revoke \(report.notRevocable.map(\.words).joined(separator: " and ")), which stays valid until it expires."
            )
        }
        if report.isForgotten { Output.note("The account “\(account)” was removed.") }
    }
}

extension RevocationRequest.TokenKind {
    /// The kind in words.
    fileprivate var words: String {
        switch self {
        case .accessToken: "the access token"
        case .refreshToken: "the refresh token"
        }
    }
}
#endif
