/// An exported object and the queue of its calls.
///
/// A class, because it owns the task that processes the queue.
final class ExportedObject: Sendable {
    let interfaces: [ExportedInterface]
    /// Whether it implements `ObjectManager`.
    let isManager: Bool
    private let calls: AsyncStream<@Sendable () async -> Void>.Continuation
    private let worker: Task<Void, Never>

    /// The maximum number of queued calls.
    static let callLimit = 256

    init(_ interfaces: [ExportedInterface], isManager: Bool) {
        self.interfaces = interfaces
        self.isManager = isManager
        let (stream, continuation) = AsyncStream.makeStream(
            of: (@Sendable () async -> Void).self, bufferingPolicy: .bufferingOldest(Self.callLimit))
        calls = continuation
        // On the global pool, whatever the exporter's actor: a peer's calls must not run on the main thread.
        worker = Task.detached {
            for await call in stream { await call() }
        }
    }

    deinit {
        stop()
    }

    /// Cancels the running call and drops the queued ones.
    func stop() {
        calls.finish()
        worker.cancel()
    }

    /// Queues a call.
    func run(_ method: ExportedMethod, _ call: IncomingCall, _ answers: Answers) {
        let result = calls.yield {
            answers.send(await Self.result(of: method, call))
        }
        switch result {
        case .enqueued: break
        default: answers.send(.failure(RemoteError(.limitsExceeded, "too many calls are pending for \(call.path)")))
        }
    }

    private static func result(of method: ExportedMethod, _ call: IncomingCall) async -> Result<[Value], RemoteError> {
        do {
            let results = try await method.handler(call)
            guard results.map(\.type) == method.returns.map(\.type) else {
                return .failure(RemoteError(.failed, "\(method.name) returned results of other types than declared"))
            }
            return .success(results)
        } catch let error as RemoteError {
            return .failure(error)
        } catch {
            // The error's text could reveal internal details to the peer.
            return .failure(RemoteError(.failed, "\(method.name) failed"))
        }
    }

    func interface(_ name: InterfaceName) -> ExportedInterface? {
        interfaces.first { $0.name == name }
    }
}

/// Sends the reply of one call.
struct Answers: Sendable {
    private let message: Message
    private weak let link: Link?

    init(_ message: Message, _ link: Link) {
        self.message = message
        self.link = link
    }

    /// Sends the reply, unless the caller wants none.
    func send(_ result: Result<[Value], RemoteError>) {
        guard !message.flags.contains(.noReplyExpected), let link else { return }
        do {
            try link.send(reply(result))
        } catch DBusError.connectionLost {
            // The connection is closed.
        } catch {
            // A reply that cannot be encoded is this side's defect; the caller must still get one.
            try? link.send(reply(.failure(RemoteError(.failed, "the reply cannot be encoded"))))
        }
    }

    private func reply(_ result: Result<[Value], RemoteError>) -> Message {
        switch result {
        case .success(let values): message.answer(.reply(to: message.serial), body: values)
        case .failure(let error):
            message.answer(.error(name: error.name, replyTo: message.serial), body: [error.message.value])
        }
    }
}
