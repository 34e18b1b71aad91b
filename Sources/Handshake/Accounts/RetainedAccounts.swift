import AsyncSupport

/// Accounts with a grant that is not stored yet, and when each is tried next.
struct RetainedAccounts {
    private struct Entry {
        var account: Account
        /// How often the vault did not take it.
        var failures = 1
        /// After how many intervals it is tried next.
        var wait = 1
    }

    /// How long the vault is left alone that could not take a record; every pause is some of these.
    static let interval = Duration.seconds(5)
    private static let backOff = BackOff(first: interval, longest: .seconds(300))

    private var entries: [AccountID: Entry] = [:]
    private var isRetrying = false
    /// Whether the ``Handshake`` is gone: then an account is given up whose pauses are the longest.
    var isLetGo = false

    var all: [Account] { entries.values.map(\.account) }

    /// - Returns: whether a task has to begin that tries them.
    mutating func add(_ account: Account) -> Bool {
        entries[account.id, default: Entry(account: account)].account = account
        defer { isRetrying = true }
        return !isRetrying
    }

    mutating func remove(_ id: AccountID) -> Account? {
        entries.isEmpty ? nil : entries.removeValue(forKey: id)?.account
    }

    /// Counts an interval that has passed.
    ///
    /// - Parameter isEnding: whether the task that tries them ends here.
    /// - Returns: the accounts that are due, nil when none is left; and those that are given up.
    mutating func pass(isEnding: Bool) -> (due: [Account]?, givenUp: [Account]) {
        var (due, givenUp): ([Account], [Account]) = ([], [])
        for (id, var entry) in entries where !isEnding {
            entry.wait -= 1
            if entry.wait <= 0 {
                guard !isLetGo || Self.backOff.pause(afterFailures: entry.failures) < Self.backOff.longest else {
                    givenUp.append(entry.account)
                    entries[id] = nil
                    continue
                }
                // It counts as failed until it is removed.
                entry.failures = min(entry.failures + 1, 64)
                entry.wait = max(1, Int(Self.backOff.pause(afterFailures: entry.failures) / Self.interval))
                due.append(entry.account)
            }
            entries[id] = entry
        }
        isRetrying = !isEnding && !entries.isEmpty
        return (isRetrying ? due : nil, givenUp)
    }
}
