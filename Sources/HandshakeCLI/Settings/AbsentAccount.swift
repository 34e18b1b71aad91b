#if CommandLine
import Handshake
import OAuth

extension KnownAccount {
    /// There is no such account in the vault.
    static func absent(_ name: String, in vault: any Vault) async throws -> CommandError {
        absent(name, among: try await Registrations(in: vault).names().names)
    }

    /// There is no such account, but there may be one with a similar name.
    static func absent(_ name: String, among accounts: [String] = []) -> CommandError {
        let cure =
            !Service.builtIn.contains { $0.name == name } && BuiltInService.named(name) == nil
            ? NearestName.question(name, among: accounts) + "List the accounts with: handshake accounts"
            : "Sign in with: handshake login \(name)"
        return CommandError(
            status: .signInNeeded, code: "sign_in_required",
            message: "There is no account “\(quoted(name, limit: 80))”. \(cure)")
    }
}
#endif
