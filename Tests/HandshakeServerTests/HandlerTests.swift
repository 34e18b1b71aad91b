import HandshakeServer
import IFTTTConnect
import OAuth
import Testing

@Suite("An app's own handler of webhooks")
struct HandlerTests {
    /// Such as an app has: it is given what IFTTT says, and needs no server to be tried.
    private func note(_ webhook: ConnectWebhook) -> String {
        guard case .fired(let trigger) = webhook.event else { return "nothing" }
        return "\(webhook.user): \(trigger.id) saw \(trigger.ingredients["Plant"]?.string ?? "nothing")"
    }

    @Test("a handler is tried with webhooks that the test states itself")
    func stated() throws {
        let fired = ConnectWebhook.Trigger(
            id: ComponentSlug(service: "lumen_garden", name: "soil_dry"), ingredients: ["Plant": .string("basil")])
        let webhook = ConnectWebhook(
            .fired(fired), in: try ConnectionID("aB3dE5fG"), for: "garden-1001", requestID: "1", sentAt: 0)
        #expect(note(webhook) == "garden-1001: lumen_garden.soil_dry saw basil")
        #expect(webhook.timeZone == "Pacific Time (US & Canada)")
    }
}
