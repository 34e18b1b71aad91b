#if Server && Sandbox
import Hummingbird
import Synchronization

/// Listens before the app is ready, because the app has to know its own address.
///
/// A class, since it is opened once and every request passes through it.
final class Entrance: HTTPResponder {
    typealias Context = BasicRequestContext

    private let responder = Mutex<RouterResponder<BasicRequestContext>?>(nil)

    func open(_ responder: RouterResponder<BasicRequestContext>) {
        self.responder.withLock { $0 = responder }
    }

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        guard let responder = responder.withLock({ $0 }) else { return Response(status: .serviceUnavailable) }
        return try await responder.respond(to: request, context: context)
    }
}
#endif
