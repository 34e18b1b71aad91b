import IFTTTConnect
import OAuth
import Testing

@testable import ConnectButton

@Suite("The closure that fetches the user's token")
@MainActor struct NewestTokenTests {
    @Test("W14: of the closures that a view was given the newest is called, and no token of a redirect counts")
    func newest() async throws {
        let token = NewestToken(.partnerServer { UserToken(Secret("utk_first")) })
        let delivery = token.delivery
        #expect(try await delivery.partnerToken()?.secret.reveal() == "utk_first")
        token.tokens = .partnerServer { UserToken(Secret("utk_second")) }
        #expect(try await delivery.partnerToken()?.secret.reveal() == "utk_second")
        token.tokens = .partnerServer { nil }
        #expect(try await delivery.partnerToken() == nil)
        #expect(!delivery.isFromRedirect)
    }

    @Test("W14: a token of a redirect counts where the app says so")
    func stated() async throws {
        let redirect = NewestToken(.redirect).delivery
        #expect(try await redirect.partnerToken() == nil)
        #expect(redirect.isFromRedirect)
        let both = NewestToken(.redirectOrPartnerServer { UserToken(Secret("utk_first")) }).delivery
        #expect(try await both.partnerToken()?.secret.reveal() == "utk_first")
        #expect(both.isFromRedirect)
    }
}
