import IFTTTConnect
import Testing

@testable import HandshakeCLI

@Suite("Turning a connection on from a terminal")
struct ActivationRunTests {
    @Test("F015: the end of the mark of a refused address asks for no other one")
    func markEnds() {
        let asked = ConnectActivation.State.enteringEmail(.init("ada@example.com"))
        let refused = ConnectActivation.State.enteringEmail(.init("ada@example.com", isInvalid: true))
        #expect(ActivationRun.isNews(asked, after: .verifying))
        #expect(ActivationRun.isNews(refused, after: asked) && ActivationRun.isNews(refused, after: .verifying))
        #expect(!ActivationRun.isNews(asked, after: refused))
        #expect(ActivationRun.isNews(.verifying, after: refused) && ActivationRun.isNews(.idle, after: nil))
        #expect(!ActivationRun.isNews(.verifying, after: .verifying))
    }
}
