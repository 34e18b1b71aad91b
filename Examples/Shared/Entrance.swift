#if Server && Sandbox
package import Hummingbird
import Synchronization

/// Listens before an app is ready, because the app has to know its own address.
///
/// A class, because it is opened once and every request passes through it.
package final class Entrance: HTTPResponder {
    package typealias Context = BasicRequestContext

    private let responder = Mutex<RouterResponder<BasicRequestContext>?>(nil)

    package init() {}

    package func open(_ responder: RouterResponder<BasicRequestContext>) {
        self.responder.withLock { $0 = responder }
    }

    package func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        guard let responder = responder.withLock({ $0 }) else { return Response(status: .serviceUnavailable) }
        return try await responder.respond(to: request, context: context)
    }
}
#endif
