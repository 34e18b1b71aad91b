#if Sandbox
import SandboxCore
import Synchronization

/// The state of the IFTTT stand-in behind one lock that is never held while waiting, with its clock and its partner.
///
/// A class, since all routes share it.
final class Store: Sendable {
    /// The partner's own authorization server; it knows the origin of the whole stand-in.
    let partnerServer: AuthorizationServer
    let webhooks: WebhookSender
    private let panel: ControlPanel
    private let state: Mutex<State>

    init(partnerServer: AuthorizationServer, panel: ControlPanel) {
        self.partnerServer = partnerServer
        self.panel = panel
        state = Mutex(Fixtures.state(seed: nil))
        webhooks = WebhookSender()
        Fixtures.grantPartnerAccess(at: partnerServer)
    }

    var now: Double { partnerServer.clock.now }
    var origin: String { partnerServer.origin }

    func read<Result: Sendable>(_ body: (State) -> Result) -> Result {
        state.withLock { body($0) }
    }

    /// Changes the state; an error keeps the changes that the body made before.
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = state.withLock { state -> Swift.Result<Result, Failure> in
            Swift.Result { () throws(Failure) in try body(&state) }
        }
        return try result.get()
    }

    /// Puts the fixtures back; everything else is forgotten, logs, requests and this service's faults included.
    ///
    /// - Parameter seed: with one, the ids to come are determined by it.
    func reset(seed: UInt64?) {
        change { $0 = Fixtures.state(seed: seed) }
        partnerServer.forgetAll()
        panel.forget(.ifttt)
        Fixtures.grantPartnerAccess(at: partnerServer)
    }

    /// Delivers a logged webhook; to the partner inside immediately, so that tests need not wait.
    func deliver(_ hook: Webhook?) {
        guard let hook else { return }
        guard hook.prefix != nil else {
            change { state in
                state.logs.add(received: Self.receipt(of: hook))
                state.logs.note(.answered(status: 200), of: hook.requestID)
            }
            return
        }
        let key = read { $0.partners[hook.serviceID]?.serviceKey ?? "" }
        webhooks.send(hook, serviceKey: key) { [weak self] attempt in
            self?.change { $0.logs.note(attempt, of: hook.requestID) }
        }
    }

    private static func receipt(of hook: Webhook) -> JSON {
        ["path": .string(hook.path), "request_id": .string(hook.requestID), "body": hook.body]
    }
}
#endif
