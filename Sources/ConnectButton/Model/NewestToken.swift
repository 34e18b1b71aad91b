import IFTTTConnect

/// How the app obtains the user's token, by the newest closure: a view may be given another one whenever it is drawn.
@MainActor
final class NewestToken {
    var tokens: TokenDelivery

    init(_ tokens: TokenDelivery) {
        self.tokens = tokens
    }

    /// Asks whichever closure is the newest at that moment. Whether a redirect's token counts stays as the app first said.
    var delivery: TokenDelivery {
        let newest: @Sendable () async throws -> UserToken? = { try await self.tokens.partnerToken() }
        return tokens.isFromRedirect ? .redirectOrPartnerServer(newest) : .partnerServer(newest)
    }
}
