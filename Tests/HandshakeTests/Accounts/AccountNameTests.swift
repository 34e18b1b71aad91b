import Foundation
import HTTPTypes
import OAuth
import TestFixtures
import Testing

@testable import Handshake

@Suite("Names of accounts")
struct AccountNameTests {
    /// Two spellings that Unicode calls equivalent, and Swift's strings equal.
    private static let names = ["caf\u{E9}", "cafe\u{301}"]

    @Test("B5: accounts whose names Unicode calls equivalent are two accounts, also in one process")
    func equivalent() async throws {
        let server = StrictAccounts()
        let vault = MemoryVault()
        try await server.store(Self.names, in: vault)
        let app = try server.app(vault)
        var accounts: [Account] = []
        for name in Self.names { accounts.append(try #require(try await app.account(name))) }
        #expect(accounts[0] !== accounts[1] && accounts[0].id != accounts[1].id)
        for (name, account) in zip(Self.names, accounts) {
            #expect(Array(account.record.grant.accessToken.reveal().utf8) == Array("access-\(name).0".utf8))
        }
        #expect(Set(accounts.map(\.id)).count == 2)
        #expect(try await app.accountIDs().ids.count == 2)
    }

    @Test("B5: a sign-in that was started for one user is not finished for another, however alike their names")
    func otherUser() async throws {
        let provider = ScriptedProvider()
        let redirect = "https://app.example/cb"
        let app = try Handshake(
            provider.client(redirect: redirect), vault: MemoryVault(), transport: provider, time: provider.time.source)
        let attempt = try await app.beginSignIn(as: Self.names[0])
        let answer = try #require(try await provider.browser.show(attempt.page))
        let url = answer.replacing(ScriptedProvider.redirect, with: redirect)
        let error = await handshakeError { try await app.finishSignIn(redirectURL: url, as: Self.names[1]) }
        #expect(error?.code == "state_mismatch")
        #expect(provider.count("/token") == 0)
        let account = try await app.finishSignIn(redirectURL: url, as: Self.names[0])
        #expect(account.id.isNamed(Self.names[0]))
    }
}
