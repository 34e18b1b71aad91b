#if CommandLine
import Beacons
import Circles
import Foundation
import HTTPTypes
import Handshake
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Nearby
import OAuth
import ServiceLifecycle
import Synchronization

/// The companion's page and what it asks for, on this machine only.
///
/// The page itself has nothing of the user's; everything else needs the token for which the link's key was exchanged.
struct CompanionServer: Sendable {
    let key: CompanionKey
    let state: CompanionState
    let actions: CompanionActions
    let photo: NearbySession.Photo
    let port: Int

    private typealias Context = CompanionContext

    /// How often a reader of the state hears something even when nothing changes, so that it notices a connection that is gone.
    private static let heartbeat = Duration.seconds(15)
    /// The maximum number of bytes that an action has.
    private static let actionLimit = 8_192

    /// How many connections are open at a time. Any program of this machine can connect, and leave the command no descriptor.
    private static let maximumConnections = 64

    /// Serves until the task is cancelled.
    ///
    /// - Parameter began: called with the port.
    /// - Throws: `CommandError` where the port cannot be used.
    func run(began: @escaping @Sendable (Int) -> Void) async throws {
        let bound = Port()
        var log = Logger(label: "nearby")
        log.logLevel = .critical
        let application = Application(
            responder: Guarded(routes: router(bound).buildResponder(), port: bound),
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: port), serverName: nil,
                availableConnectionsDelegate: MaximumAvailableConnections(Self.maximumConnections, logger: log)),
            onServerRunning: { channel in
                bound.number = channel.localAddress?.port ?? port
                began(bound.number)
            }, logger: log)
        var configuration = ServiceGroupConfiguration(services: [application], logger: log)
        configuration.maximumGracefulShutdownDuration = .milliseconds(500)
        let group = ServiceGroup(configuration: configuration)
        do {
            // It closes before it is cancelled: a server that is cancelled must accept no connection.
            try await withTaskCancellationHandler {
                try await Task { try await group.run() }.value
            } onCancel: {
                state.end()
                Task { await group.triggerGracefulShutdown() }
            }
        } catch let error as IOError {
            throw CommandError.usage(
                error.errnoCode == EADDRINUSE
                    ? "Port \(port) is used by another program. Choose another one with --port, or leave it out."
                    : "Port \(port) cannot be used: \(String(cString: strerror(error.errnoCode))).")
        }
        try Task.checkCancellation()
    }

    private func router(_ port: Port) -> Router<Context> {
        let router = Router(context: Context.self)
        for file in CompanionPage.files {
            router.get(RouterPath(file.path)) { _, _ in Self.answer(file.content, type: file.type) }
        }
        router.post("session") { request, context in
            guard !context.isForeign(to: port.number), let object = try await Self.object(request),
                let offered = object["key"]?.string, let token = key.exchange(offered)
            else { return Response(status: .forbidden) }
            return Self.json(.object([("token", .string(token))]))
        }
        router.get("state") { request, _ in try await asOwner(request) { stream() } }
        router.get("log") { request, _ in
            try await asOwner(request) { try await Self.reported { Self.json(try await actions.history()) } }
        }
        router.get("members") { request, _ in
            try await asOwner(request) { try await Self.reported { Self.json(try await actions.members()) } }
        }
        router.get("photo/:number") { request, context in
            try await asOwner(request) {
                guard
                    let person = context.parameters.get("number").flatMap({ Int($0) }).flatMap({ try? UserNumber($0) }),
                    let bytes = await photo(person, Self.circle(of: request))
                else { return Response(status: .notFound) }
                return Self.answer(bytes, type: "application/octet-stream")
            }
        }
        router.post("do") { request, _ in
            try await asOwner(request) {
                guard let object = try await Self.object(request) else { return Response(status: .badRequest) }
                return try await Self.reported {
                    Self.json(.object([("said", .string(try await actions.perform(object)))]))
                }
            }
        }
        return router
    }

    /// The circle whose photo of a person is asked for; nil for none.
    private static func circle(of request: Request) -> CircleScope? {
        request.uri.queryParameters["circle"].flatMap { Hexadecimal.decode($0.utf8) }.flatMap { CircleScope($0) }
    }

    private func asOwner(_ request: Request, _ body: () async throws -> Response) async throws -> Response {
        guard key.allows(request.headers[.authorization]) else { return Response(status: .unauthorized) }
        return try await body()
    }

    /// The state as server-sent events.
    private func stream() -> Response {
        let snapshots = state.snapshots()
        let body = ResponseBody { writer in
            let events = Self.withHeartbeat(snapshots)
            for await event in events { try await writer.write(ByteBuffer(string: event)) }
            try await writer.finish(nil)
        }
        var response = Response(status: .ok, body: body)
        response.headers[.contentType] = "text/event-stream"
        return response
    }

    /// Snapshots as events, and comments between them.
    private static func withHeartbeat(_ snapshots: AsyncStream<String>) -> AsyncStream<String> {
        let (events, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(2))
        let task = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await snapshot in snapshots { continuation.yield("data: \(snapshot)\n\n") }
                    continuation.finish()
                }
                group.addTask {
                    while (try? await Task.sleep(for: heartbeat)) != nil { continuation.yield(": \n\n") }
                }
                await group.next()
                group.cancelAll()
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return events
    }

    // MARK: Requests and answers

    private static func object(_ request: Request) async throws -> JSONObject? {
        guard request.headers[.contentType] == "application/json",
            let buffer = try? await request.body.collect(upTo: actionLimit)
        else { return nil }
        return (try? JSONValue(parsing: Array(buffer.readableBytesView)))?.object
    }

    /// What the user can do about a failure, as an answer.
    private static func reported(_ body: () async throws -> Response) async throws -> Response {
        do {
            return try await body()
        } catch is CompanionActions.Malformed {
            return Response(status: .badRequest)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            let message = quoted((error as? NearbyError)?.message ?? "\(error)")
            return json(.object([("failed", .string(message))]), status: .unprocessableContent)
        }
    }

    private static func json(_ value: JSONText, status: HTTPResponse.Status = .ok) -> Response {
        var response = answer(Array(value.text.utf8), type: "application/json")
        response.status = status
        return response
    }

    private static func answer(_ bytes: [UInt8], type: String) -> Response {
        var response = Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        response.headers[.contentType] = type
        return response
    }
}

/// The port, which is known when the server listens.
///
/// A class, because the first request can come while it is being stored.
private final class Port: Sendable {
    private let value = Atomic(0)

    var number: Int {
        get { value.load(ordering: .acquiring) }
        set { value.store(newValue, ordering: .releasing) }
    }
}

/// Answers requests for this machine by its address only, and from its own page only; and says on all answers what a browser may
/// do with them.
private struct Guarded: HTTPResponder {
    typealias Context = CompanionContext

    let routes: RouterResponder<Context>
    let port: Port

    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src blob: data:; connect-src 'self'; base-uri 'none'; "
        + "form-action 'none'; frame-ancestors 'none'"

    @concurrent func respond(to request: Request, context: Context) async throws -> Response {
        var response = try await answer(request, context)
        response.headers[.cacheControl] = "no-store"
        response.headers[.contentSecurityPolicy] = Self.policy
        response.headers[.xContentTypeOptions] = "nosniff"
        for (name, value) in [
            ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ] {
            if let name = HTTPField.Name(name) { response.headers[name] = value }
        }
        return response
    }

    private func answer(_ request: Request, _ context: Context) async throws -> Response {
        // A name that leads here is another site's: its pages would count as this one's (DNS rebinding).
        let authority = "127.0.0.1:\(port.number)"
        guard request.head.authority == authority else { return Response(status: .misdirectedRequest) }
        if let origin = request.headers[.origin], origin != "http://\(authority)" {
            return Response(status: .forbidden)
        }
        do {
            return try await routes.respond(to: request, context: context)
        } catch let error as any HTTPResponseError {
            return Response(status: error.status)
        }
    }
}
#endif
