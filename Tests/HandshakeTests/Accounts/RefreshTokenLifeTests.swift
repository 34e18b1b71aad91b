import Foundation
import OAuth
import Testing

@testable import Handshake

@Suite("The end of a refresh token in a stored account")
struct RefreshTokenLifeTests {
    private func record(_ end: Double?) throws -> AccountRecord {
        let id = AccountID(try StrictAccounts().client(), name: "a")
        let grant = Grant(
            accessToken: Secret("a"), expiresAt: 10, issuedAt: 0, refreshToken: Secret("r"), scopes: [],
            refreshTokenExpiresAt: end)
        return AccountRecord(id: id, grant: grant, state: .signedIn, refreshMethod: .refreshToken, generation: 0)
    }

    @Test("the end is stored, and a record from before it was is read without one")
    func stored() throws {
        let record = try record(1_234.5)
        let bytes = try record.stored()
        #expect(try AccountRecord(stored: bytes, expected: record.id).grant.refreshTokenExpiresAt == 1_234.5)
        var members = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        let end = members.removeValue(forKey: "refreshTokenExpiresAt") as? Double
        #expect(end == 1_234.5)
        let older = Array(try JSONSerialization.data(withJSONObject: members))
        let read = try AccountRecord(stored: older, expected: record.id)
        #expect(read.grant.refreshTokenExpiresAt == nil && read.grant.refreshToken?.reveal() == "r")
    }

    @Test("before the end of a session that no refresh extends, refreshes are few, and a minute or more apart")
    func countDown() throws {
        var times = [0.0]
        while let last = times.last, last < 36_000, times.count < 100 {
            let id = AccountID(try StrictAccounts().client(), name: "a")
            let grant = Grant(
                accessToken: Secret("a"), expiresAt: last + 86_400, issuedAt: last, refreshToken: Secret("r"),
                scopes: [], refreshTokenExpiresAt: 36_000)
            let record = AccountRecord(
                id: id, grant: grant, state: .signedIn, refreshMethod: .refreshToken, generation: 0)
            times.append(try #require(Keeper.Options().schedule(of: record)).earliest)
        }
        #expect((3...8).contains(times.count), "\(times)")
        for (time, next) in zip(times, times.dropFirst()) { #expect(next - time >= 60, "\(times)") }
    }

    @Test("the end of a session leaves none")
    func ended() throws {
        #expect(try record(50).ended(.loggedOut).grant.refreshTokenExpiresAt == nil)
    }
}
