import AsyncSupport
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// One authenticated stream of messages: assigns serial numbers and matches replies to calls.
///
/// A class with a lock, not an actor: the socket's thread and cancellation handlers must change its state immediately and
/// in order, and cannot await an actor.
final class Link: Sendable {
    typealias Completion = @Sendable (Result<Message, any Error>) -> Void

    private enum Phase {
        case authenticating(Authentication, guid: String?, opened: CheckedContinuation<Void, any Error>)
        case open
        case ended(DBusError)
    }

    private struct Pending {
        let destination: BusName?
        let complete: Completion

        /// Whether a reply of `sender` is acceptable: for a call to a unique name, only that peer or the bus may
        /// reply.
        func accepts(_ sender: BusName?) -> Bool {
            guard let sender, let destination, destination.isUnique else { return true }
            return sender == destination || sender == .bus
        }
    }

    private struct State {
        var phase = Phase.ended(.connectionLost(reason: "it was never opened"))
        var reader: MessageReader
        var lastSerial: UInt32 = 0
        var pending: [UInt32: Pending] = [:]
        var endings: [Int: CheckedContinuation<Void, Never>] = [:]
        var endingCount = 0
    }

    private let stream: ByteStream
    private let state: Mutex<State>
    private let router: Router
    let clock: any Clock<Duration>

    init(_ stream: ByteStream, router: Router, messageLimit: Int, clock: any Clock<Duration>) {
        self.stream = stream
        self.router = router
        self.clock = clock
        state = Mutex(State(reader: MessageReader(limit: messageLimit)))
    }

    deinit {
        stream.close()
    }

    /// Authenticates. Cancellation ends the stream.
    func open(guid: String?) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (opened: CheckedContinuation<Void, any Error>) in
                state.withLock { $0.phase = .authenticating(Authentication(), guid: guid, opened: opened) }
                // Weak, so that releasing the connection ends the stream and its thread.
                stream.start(
                    received: { [weak self] in self?.receive($0) },
                    ended: { [weak self] in self?.end(.connectionLost(reason: $0)) })
                do throws(DBusError) {
                    try stream.send(Authentication.opening(user: geteuid()))
                } catch {
                    end(error)
                }
                if Task.isCancelled { end(.connectionLost(reason: "opening was cancelled")) }
            }
        } onCancel: {
            end(.connectionLost(reason: "opening was cancelled"))
        }
    }

    /// Ends the stream and everything that waits for it. Only the first error counts.
    func end(_ error: DBusError) {
        let ending = state.withLock { state -> (Phase, [Pending], [CheckedContinuation<Void, Never>])? in
            if case .ended = state.phase { return nil }
            defer {
                state.phase = .ended(error)
                state.pending = [:]
                state.endings = [:]
            }
            return (state.phase, Array(state.pending.values), Array(state.endings.values))
        }
        stream.close()
        guard let (phase, pending, endings) = ending else { return }
        if case .authenticating(_, _, let opened) = phase { opened.resume(throwing: error) }
        for call in pending { call.complete(.failure(error)) }
        router.end(error)
        for ending in endings { ending.resume() }
    }

    /// Why it ended, or nil while it is open.
    var ending: DBusError? {
        state.withLock { state in
            if case .ended(let error) = state.phase { error } else { nil }
        }
    }

    /// Returns when the stream has ended, or when the task is cancelled.
    func waitForEnd() async {
        let number = state.withLock { state in
            state.endingCount += 1
            return state.endingCount
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if case .ended = state.phase { return true }
                    state.endings[number] = continuation
                    return false
                }
                if isOver { continuation.resume() } else if Task.isCancelled { stopWaiting(number) }
            }
        } onCancel: {
            stopWaiting(number)
        }
    }

    private func stopWaiting(_ number: Int) {
        state.withLock { $0.endings.removeValue(forKey: number) }?.resume()
    }
}

// MARK: Sending

extension Link {
    /// Sends a message with the next serial number.
    ///
    /// - Throws: ``DBusError`` when it cannot be encoded or the stream has ended.
    func send(_ message: Message) throws(DBusError) {
        try send(message, serial: try nextSerial())
    }

    private func send(_ message: Message, serial: UInt32) throws(DBusError) {
        guard !message.body.contains(where: \.hasDescriptor) else {
            throw .unsupported(feature: "sending a file descriptor")
        }
        var message = message
        message.serial = serial
        try stream.send(try message.encoded())
    }

    private func nextSerial() throws(DBusError) -> UInt32 {
        let result = state.withLock { state -> Result<UInt32, DBusError> in
            if case .ended(let error) = state.phase { return .failure(error) }
            repeat {
                state.lastSerial = state.lastSerial == .max ? 1 : state.lastSerial + 1
            } while state.pending[state.lastSerial] != nil
            return .success(state.lastSerial)
        }
        return try result.get()
    }

    /// Sends a call; `complete` is called exactly once. For a reply, it runs on the socket's thread, before later messages of
    /// the peer are processed.
    @discardableResult
    func start(_ call: Message, complete: @escaping Completion) -> UInt32 {
        do {
            let serial = try nextSerial()
            let ended = state.withLock { state -> DBusError? in
                if case .ended(let error) = state.phase { return error }
                state.pending[serial] = Pending(destination: call.destination, complete: complete)
                return nil
            }
            if let ended { throw ended }
            do throws(DBusError) {
                try send(call, serial: serial)
            } catch {
                finish(serial, .failure(error))
            }
            return serial
        } catch {
            complete(.failure(error))
            return 0
        }
    }

    /// Abandons a call: a later reply is dropped.
    func finish(_ serial: UInt32, _ result: Result<Message, any Error>) {
        state.withLock { $0.pending.removeValue(forKey: serial) }?.complete(result)
    }

    /// Sends a call and awaits its reply.
    func call(_ call: Message, name: String, timeout: Duration) async throws -> [Value] {
        let answer = SingleResult<Message>()
        let serial = start(call) { answer.settle($0) }
        let timer = Task { [weak self, clock] in
            try await clock.sleep(for: timeout.bounded)
            self?.finish(serial, .failure(DBusError.timeout(of: name)))
        }
        defer { timer.cancel() }
        let message = try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            finish(serial, .failure(CancellationError()))
        }
        guard message.descriptorCount == 0 else { throw DBusError.unsupported(feature: "receiving a file descriptor") }
        guard case .error(let name, _) = message.content else { return message.body }
        let text = message.body.first.flatMap { String(reading: $0) }
        throw DBusError.remote(RemoteError(name, text ?? ""))
    }
}

// MARK: Receiving

extension Link {
    private func receive(_ bytes: [UInt8]) {
        do throws(DBusError) {
            guard let rest = try authenticate(bytes) else { return }
            state.withLock { $0.reader.append(rest) }
            while let message = try next() { deliver(message) }
        } catch {
            end(error)
        }
    }

    private func next() throws(DBusError) -> Message? {
        try state.withLock { state in
            Result { () throws(DBusError) -> Message? in
                if case .ended = state.phase { return nil }
                return try state.reader.next()
            }
        }.get()
    }

    /// The bytes that belong to messages; nil during authentication.
    private func authenticate(_ bytes: [UInt8]) throws(DBusError) -> [UInt8]? {
        guard case .authenticating(var authentication, let guid, let opened) = state.withLock({ $0.phase }) else {
            return bytes
        }
        switch try authentication.receive(bytes) {
        case .wait: break
        case .send(let answer): try stream.send(answer)
        case .begin(let begin, let found):
            if let guid, guid.lowercased() != found { throw .wrongBus(expected: guid, found: found.visible(limit: 32)) }
            try stream.send(begin)
            let isOpen = state.withLock { state in
                if case .ended = state.phase { return false }
                state.phase = .open
                return true
            }
            if isOpen { opened.resume() }
            return nil
        }
        state.withLock { state in
            guard case .authenticating = state.phase else { return }
            state.phase = .authenticating(authentication, guid: guid, opened: opened)
        }
        return nil
    }

    private func deliver(_ message: Message) {
        switch message.content {
        case .reply(let serial), .error(_, let serial):
            let pending = state.withLock { state -> Pending? in
                guard let pending = state.pending[serial], pending.accepts(message.sender) else { return nil }
                return state.pending.removeValue(forKey: serial)
            }
            pending?.complete(.success(message))
        case .call, .signal:
            router.receive(message, on: self)
        }
    }
}
