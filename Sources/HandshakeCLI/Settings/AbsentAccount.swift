#if CommandLine
import Handshake
import OAuth

extension KnownAccount {
    /// There is no such account in the vault.
    ///
    /// - Parameter isLeaving: whether it was to be signed out.
    static func absent(_ name: String, in vault: any Vault, isLeaving: Bool = false) async throws -> CommandError {
        absent(name, among: try await Registrations(in: vault).names().names, isLeaving: isLeaving)
    }

    /// There is no such account, but there may be one with a similar name.
    static func absent(_ name: String, among accounts: [String] = [], isLeaving: Bool = false) -> CommandError {
        let isService = Service.builtIn.contains { $0.name == name } || BuiltInService.named(name) != nil
        let cure =
            isService && !isLeaving
            ? "Sign in with: handshake login \(name)"
            : NearestName.question(name, among: accounts) + "List the accounts with: handshake accounts"
        return CommandError(
            status: .signInNeeded, code: "sign_in_required",
            message: "There is no account “\(quoted(name, limit: 80))”. \(cure)")
    }
}
#endif
