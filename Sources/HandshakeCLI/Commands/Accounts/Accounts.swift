#if CommandLine
import ArgumentParser
import Foundation
import Handshake
import OAuth

struct Accounts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "accounts", abstract: "List the accounts.")

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let settings = try Settings.load()
        let vault = try await common.existingVault(settings)
        let (names, damaged) = try await Registrations(in: vault).names()
        var rows: [(name: String, status: AccountStatus)] = []
        var failures: [any Error] = []
        var named: [VaultError] = []
        for name in names {
            do {
                rows.append((name, try await KnownAccount.find(name, in: vault).account.status))
            } catch let error as CommandError where error.status == .signInNeeded {
                continue
            } catch HandshakeError.vault(let error) {
                named.append(error)
                failures.append(KnownAccount.curable(error, of: name))
            } catch {
                failures.append(error)
            }
        }
        // The listing has no names for damaged records.
        failures += damaged.filter { !named.contains($0) }
        print(rows, isComplete: failures.isEmpty)
        for failure in failures.dropLast() { _ = Failure.report(failure) }
        if let failure = failures.last { throw failure }
    }

    private func print(_ rows: [(name: String, status: AccountStatus)], isComplete: Bool) {
        if common.json {
            Output.result(
                JSONText.object([
                    ("accounts", .array(rows.map { .object(Self.members(of: $0.status, name: $0.name)) }))
                ]).text)
            return
        }
        guard !rows.isEmpty else {
            if isComplete {
                Output.note(
                    NamedVault.given.completed("There are no accounts. Sign in with: handshake login SERVICE"))
            }
            return
        }
        let table =
            [["ACCOUNT", "SERVICE", "USER", "STATE", "EXPIRES", "REFRESH", "SCOPE"]]
            + rows.map { row in
                [
                    row.name, row.status.id.service, Self.user(row.status.identity), row.status.state.text,
                    Moment.text(row.status.expiresAt), row.status.isRefreshable ? "yes" : "no",
                    row.status.scopes.joined(separator: " "),
                ]
            }
        for line in Table.lines(table) { Output.result(line) }
    }

    /// The user whom the ID token names; empty without one.
    private static func user(_ claims: IDTokenClaims?) -> String {
        claims.map { $0.claims["name"]?.string ?? $0.subject } ?? ""
    }

    /// The printed members of an account, in order; no secrets.
    static func members(of status: AccountStatus, name: String) -> [(String, JSONText)] {
        [
            ("account", .string(name)), ("service", .string(status.id.service)), ("issuer", .string(status.id.issuer)),
            ("client_id", .string(status.id.client)), ("subject", .optional(status.identity?.subject)),
            ("state", .string(status.state.code)), ("scope", .string(status.scopes.joined(separator: " "))),
            ("expires_at", .seconds(status.expiresAt)), ("refreshable", .bool(status.isRefreshable)),
            ("dpop", .bool(status.isBound)),
        ]
    }
}

extension AccountStatus.State {
    /// The state for people.
    var text: String {
        switch self {
        case .signedIn: "signed in"
        case .refreshUncertain: "refresh unfinished"
        case .ended: "sign-in required"
        case .signingOut: "signing out"
        }
    }
}
#endif
