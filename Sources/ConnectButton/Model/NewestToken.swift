import IFTTTConnect

/// The newest ``TokenDelivery`` of a view: it may get another closure each time it is drawn.
@MainActor
final class NewestToken {
    var tokens: TokenDelivery

    init(_ tokens: TokenDelivery) {
        self.tokens = tokens
    }

    /// Asks the closure that is the newest when it is called. Whether a redirect's token counts is fixed: for another answer, the
    /// view makes another model.
    var delivery: TokenDelivery {
        let newest: @Sendable () async throws -> UserToken? = { try await self.tokens.partnerToken() }
        return tokens.isFromRedirect ? .redirectOrPartnerServer(newest) : .partnerServer(newest)
    }
}
