/// What a screen reader is told of when it changes: the user may be elsewhere in the list.
struct AccountsNews: Sendable, Hashable {
    var running: [String: ConnectedAccountsModel.Operation] = [:]
    var slow: Set<String> = []
    var outcomes: [String: ConnectedAccountsModel.Outcome] = [:]
    var failure: ConnectedAccountsError?
    var isLoadSlow = false

    /// A text, and the account that it is about.
    struct Announcement: Sendable, Hashable {
        let words: ConnectedAccountsWords
        var name = ""
    }

    /// What is said of the changes, in the order of the list.
    func announcements(since before: AccountsNews, of accounts: [ConnectedAccount]) -> [Announcement] {
        var said: [Announcement] = []
        if let failure, failure != before.failure { said.append(Announcement(words: failure.words)) }
        if isLoadSlow, !before.isLoadSlow { said.append(Announcement(words: .slow)) }
        for account in accounts {
            let (service, name) = (account.service, account.displayName)
            if let operation = running[service], operation != before.running[service] {
                said.append(Announcement(words: operation.words, name: name))
            }
            if slow.contains(service), !before.slow.contains(service) { said.append(Announcement(words: .slow)) }
            if let outcome = outcomes[service], outcome != before.outcomes[service] {
                said.append(Announcement(words: outcome.words, name: name))
            }
        }
        return said
    }
}

extension ConnectedAccountsModel {
    /// The present state, to be compared with an earlier one.
    var news: AccountsNews {
        AccountsNews(running: running, slow: slow, outcomes: outcomes, failure: failure, isLoadSlow: isLoadSlow)
    }
}
