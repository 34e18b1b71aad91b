#if Server && Sandbox
package import Hummingbird
import Logging
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

    /// An application of this machine that opens the entrance as soon as it knows its own origin.
    ///
    /// - Parameter app: makes the app's routes at this origin, and prints what a user has to know.
    package func application(
        named name: String, port: Int, app: @escaping @Sendable (String) throws -> Router<BasicRequestContext>
    ) -> Application<Entrance> {
        var log = Logger(label: name)
        log.logLevel = .error
        return Application(
            responder: self,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                do {
                    self.open(try app("http://127.0.0.1:\(channel.localAddress?.port ?? 0)").buildResponder())
                } catch {
                    print("\(name) cannot open: \(error)")
                }
            }, logger: log)
    }
}
#endif
