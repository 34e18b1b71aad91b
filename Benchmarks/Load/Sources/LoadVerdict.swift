/// What a run has found, and whether it passed.
struct LoadVerdict {
    /// How many accounts did not work in the last look.
    let lost: Int
    let counts: TokenServer.Counts
    /// How many access tokens ended while keepers ran and before one of them refreshed the account; nil for a run without keepers.
    var lapsed: Int?

    /// The exit status: 1 when a session was lost, a refresh token was used twice, an account was refreshed twice for one expiry, or a keeper
    /// let a token end.
    var status: Int32 { lost == 0 && counts.reused == 0 && counts.early == 0 && (lapsed ?? 0) == 0 ? 0 : 1 }

    /// What is printed; the last line says why a run failed.
    var lines: [String] {
        let seen =
            "the service: \(counts.refreshes) refreshes, \(counts.early) of them second ones of one expiry, \(counts.forgiven) answered again, "
            + "\(counts.reused) reused; \(counts.refused) of \(counts.requests) requests refused"
        let failure =
            "failed: \(lost) accounts did not work when used once more, "
            + "refresh tokens were used twice \(counts.reused) times, "
            + "and accounts were refreshed a second time for one expiry \(counts.early) times"
            + (lapsed.map { "; \($0) tokens ended before a keeper had refreshed them" } ?? "")
        return status == 0 ? [seen] : [seen, failure]
    }
}
