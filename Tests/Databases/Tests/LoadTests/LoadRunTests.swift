import Testing

@testable import load_benchmark

@Suite("The load test's own judgement")
struct LoadRunTests {
    @Test(
        "a run fails when an account is lost or a refresh token was used twice, and its last line has both numbers",
        arguments: [(0, 0, 0), (1, 0, 1), (0, 1, 1), (3, 2, 1)] as [(Int, Int, Int32)])
    func verdict(_ lost: Int, _ reused: Int, _ status: Int32) throws {
        var counts = TokenServer.Counts()
        (counts.refreshes, counts.early, counts.forgiven, counts.reused) = (50, 4, 5, reused)
        let verdict = LoadVerdict(lost: lost, counts: counts)
        #expect(verdict.status == status)
        let seen =
            "the service: 50 refreshes, 4 of them second ones of one expiry, 5 answered again, \(reused) reused; "
        #expect(try #require(verdict.lines.first).hasPrefix(seen))
        let failure =
            "failed: \(lost) accounts did not work when used once more, "
            + "and refresh tokens were used twice \(reused) times"
        #expect(Array(verdict.lines.dropFirst()) == (status == 0 ? [] : [failure]))
    }
}
