/// An exported object and the queue of its calls.
///
/// A class, because it owns the task that works the queue off.
final class ExportedObject: Sendable {
    let interfaces: [ExportedInterface]
    /// Whether it answers for the objects below it.
    let isManager: Bool
    private let calls: AsyncStream<@Sendable () async -> Void>.Continuation
    private let worker: Task<Void, Never>

    /// How many calls may wait.
    static let callLimit = 256

    init(_ interfaces: [ExportedInterface], isManager: Bool) {
        self.interfaces = interfaces
        self.isManager = isManager
        let (stream, continuation) = AsyncStream.makeStream(
            of: (@Sendable () async -> Void).self, bufferingPolicy: .bufferingOldest(Self.callLimit))
        calls = continuation
        // On the global pool, whoever exports: the thread of a user interface is not for a peer's calls.
        worker = Task.detached {
            for await call in stream { await call() }
        }
    }

    deinit {
        stop()
    }

    /// Cancels the call that runs and forgets those that wait.
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
        default: answers.send(.failure(RemoteError(.limitsExceeded, "too many calls wait for \(call.path)")))
        }
    }

    private static func result(of method: ExportedMethod, _ call: IncomingCall) async -> Result<[Value], RemoteError> {
        do {
            let results = try await method.handler(call)
            guard results.map(\.type) == method.returns.map(\.type) else {
                return .failure(RemoteError(.failed, "\(method.name) gave other results than it promises"))
            }
            return .success(results)
        } catch let error as RemoteError {
            return .failure(error)
        } catch {
            // The text of an inner error may hold what is not the peer's business.
            return .failure(RemoteError(.failed, "\(method.name) failed"))
        }
    }

    func interface(_ name: InterfaceName) -> ExportedInterface? {
        interfaces.first { $0.name == name }
    }
}

/// Where the answer of one call goes.
struct Answers: Sendable {
    private let message: Message
    private weak let link: Link?

    init(_ message: Message, _ link: Link) {
        self.message = message
        self.link = link
    }

    /// Sends the answer, unless the peer wants none.
    func send(_ result: Result<[Value], RemoteError>) {
        guard !message.flags.contains(.noReplyExpected), let link else { return }
        do {
            try link.send(reply(result))
        } catch DBusError.connectionLost {
            // Nobody is there to hear it.
        } catch {
            // What cannot be written is this side's defect; the peer must not wait for it.
            try? link.send(reply(.failure(RemoteError(.failed, "the answer cannot be sent"))))
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
