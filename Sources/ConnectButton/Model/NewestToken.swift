import IFTTTConnect

/// The app's newest closure that fetches the user's token: a view may be given another one whenever it is drawn.
@MainActor
final class NewestToken {
    typealias Fetch = @Sendable () async throws -> UserToken?

    /// Nil has no token.
    var fetch: Fetch?

    init(_ fetch: Fetch?) {
        self.fetch = fetch
    }

    /// Asks whichever closure is the newest at that moment.
    var delivery: TokenDelivery {
        .partnerServer {
            let fetch = await self.fetch
            return try await fetch?()
        }
    }
}
