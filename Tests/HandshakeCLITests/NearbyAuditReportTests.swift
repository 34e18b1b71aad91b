import Handshake
import Nearby
import Testing

@testable import Beacons
@testable import HandshakeCLI

@Suite("What an audit tells")
struct NearbyAuditReportTests {
    private typealias Scope = NearbyAuditReport.Scope

    private func scope(_ circle: String?, isSent: Bool = true, _ count: Int) -> Scope {
        Scope(circle: circle, isSent: isSent, count: count)
    }

    @Test("a circle and friends that were not heard are named, and nothing is said to be clean")
    func unheard() throws {
        let report = NearbyAuditReport(
            scopes: [scope("Batch", 8), scope("Hub", 1), scope("Old", isSent: false, 0), scope(nil, 0)],
            verdict: .tooShort, findings: [])
        #expect(
            report.lines == [
                "Batch: 8 identifiers heard", "Hub: 1 identifier heard", "Old: not sent now, not heard",
                "Friends: not heard",
            ])
        let failure = try #require(report.failure)
        #expect(failure.status == .abandoned && failure.code == "too_short")
        #expect(failure.message.hasPrefix("Not enough was heard of: Hub (1 heard), friends (not heard). "))
        #expect(
            report.json.text
                == #"{"verdict":"too_short","identifiers":9,"scopes":["#
                + #"{"circle":"Batch","sent":true,"identifiers":8},{"circle":"Hub","sent":true,"identifiers":1},"#
                + #"{"circle":"Old","sent":false,"identifiers":0},{"circle":null,"sent":true,"identifiers":0}],"#
                + #""findings":[]}"#)
    }

    @Test("what was heard of each is told also where nothing or something links two identifiers")
    func heard() {
        let scopes = [scope("Batch", 8), scope("Old", isSent: false, 0)]
        let clean = NearbyAuditReport(scopes: scopes, verdict: .clean, findings: [])
        #expect(
            clean.lines == [
                "Batch: 8 identifiers heard", "Old: not sent now, not heard",
                "Nothing links the 8 identifiers that were heard.",
            ])
        #expect(clean.failure == nil)
        let findings = [LinkabilityAudit.Finding(rule: .lastingAddress, text: "the address stays")]
        let linked = NearbyAuditReport(scopes: scopes + [scope(nil, 0)], verdict: .linked, findings: findings)
        #expect(linked.lines.suffix(2) == ["Friends: not heard", "L3  the address stays"])
        #expect(linked.failure?.code == "linked")
    }

    @Test("the scopes of the user are those that are audited")
    func ownScopes() async throws {
        let vault = MemoryVault()
        let keys = RollingKeys(in: vault, community: "c")
        let now = try #require(Timestamp(secondsSince1970: 1_767_225_600))
        _ = try await keys.share(UserNumber(36), days: 3, from: now)
        let own = try await OwnScopes(in: vault, community: "c", at: now)
        let report = NearbyAuditReport(NearbyAuditReport.audit(of: own), of: own)
        #expect(report.lines == ["Friends: not heard"] && report.failure?.code == "too_short")
    }

    @Test("who sends nothing is told how to send")
    func nothingSent() throws {
        let report = NearbyAuditReport(scopes: [scope("Old", isSent: false, 0)], verdict: .tooShort, findings: [])
        #expect(try #require(report.failure).message.hasPrefix("You send no identifiers now."))
    }
}
