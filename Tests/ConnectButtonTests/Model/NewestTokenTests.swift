import IFTTTConnect
import OAuth
import Testing

@testable import ConnectButton

@Suite("The closure that fetches the user's token")
@MainActor struct NewestTokenTests {
    @Test("W14: of the closures that a view was given the newest is called, and no token of a redirect counts")
    func newest() async throws {
        let token = NewestToken { UserToken(Secret("utk_first")) }
        let delivery = token.delivery
        #expect(try await delivery.partnerToken()?.secret.reveal() == "utk_first")
        token.fetch = { UserToken(Secret("utk_second")) }
        #expect(try await delivery.partnerToken()?.secret.reveal() == "utk_second")
        token.fetch = nil
        #expect(try await delivery.partnerToken() == nil)
        #expect(!delivery.isFromRedirect)
    }
}
