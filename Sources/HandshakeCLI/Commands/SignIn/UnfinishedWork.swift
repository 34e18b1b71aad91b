#if CommandLine
import Handshake
import OAuth
import Sequencing

/// The imports and app chains at Sequencing.com that an account has not finished, before another sign-in to it.
///
/// They are found by the account's name, and are one user's: another user who signs in gets none of them.
struct UnfinishedWork {
    /// Whether there are any.
    private let exists: Bool
    /// Whose they are; nil when there are none, or when the service does not say.
    let subject: String?

    /// Reads which user they belong to, if there are any.
    init(of account: Account?, in vault: any Vault) async {
        guard let account, account.service.name == Service.sequencing.name, await Self.exist(for: account, in: vault)
        else {
            (exists, subject) = (false, nil)
            return
        }
        exists = true
        subject = await SignedInUser(account, needsName: false).subject
    }

    private static func exist(for account: Account, in vault: any Vault) async -> Bool {
        for key in [account.id.vaultKey(.imports), account.id.vaultKey(.jobs)] {
            if (try? await vault.record(key)) != nil { return true }
        }
        return false
    }

    /// Leaves them to the same user of the same account, and forgets them otherwise.
    ///
    /// - Parameter earlier: the account before, if it was made with another client.
    func pass(to account: Account, from earlier: AccountID?, in vault: any Vault) async throws {
        guard account.service.name == Service.sequencing.name else { return }
        var isSameUser = false
        if let subject { isSameUser = await SignedInUser(account, needsName: false).subject == subject }
        for id in Set([account.id, earlier ?? account.id]) where id != account.id || !isSameUser {
            try await UnfinishedImports.forget(id, in: vault)
            try await UnfinishedJobs.forget(id, in: vault)
        }
        guard exists, !isSameUser else { return }
        Output.note(
            "Unfinished imports and app chains of the earlier sign-in are forgotten: they are another user's, or it is not known whose. "
                + "Their files and reports are still at Sequencing.com.")
    }
}
#endif
