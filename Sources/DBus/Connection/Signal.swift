/// What an object announces.
public struct Signal: Sendable, Hashable {
    /// The object.
    public let path: ObjectPath
    public let interface: InterfaceName
    public let member: MemberName
    public let arguments: [Value]
    /// Who sent it, as the bus says; nil for one of our own before it is sent.
    public let sender: BusName?

    /// A signal to emit.
    public init(path: ObjectPath, interface: InterfaceName, member: MemberName, arguments: [Value] = []) {
        self.init(path: path, interface: interface, member: member, arguments: arguments, sender: nil)
    }

    init(path: ObjectPath, interface: InterfaceName, member: MemberName, arguments: [Value], sender: BusName?) {
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
        self.sender = sender
    }
}

/// The signals that fit a rule, in the order in which they came.
///
/// The sequence is for one reader. It ends with ``DBusError/connectionLost(reason:)`` when the connection ends, with
/// ``DBusError/signalOverflow(limit:)`` when the reader is too slow and ``Connection/Overflow/fail`` holds, and without an
/// error when the reading task is cancelled; what was buffered before is read first. It keeps its connection alive, and the
/// bus stops sending these signals when the sequence is dropped.
public struct Signals: AsyncSequence, Sendable {
    public typealias Element = Signal

    let stream: AsyncThrowingStream<Signal, any Error>
    let connection: Connection

    public struct AsyncIterator: AsyncIteratorProtocol {
        var base: AsyncThrowingStream<Signal, any Error>.Iterator
        let connection: Connection

        public mutating func next() async throws -> Signal? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Signal? {
            try await base.next(isolation: actor)
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: stream.makeAsyncIterator(), connection: connection)
    }
}

/// Who owns a name, and each change of it: a service that vanished or came back.
///
/// The first element comes at once. Only the newest state waits for a slow reader; since every connection has a unique
/// name of its own, a service that was restarted in between shows as another owner. The sequence is for one reader and
/// ends as ``Signals`` does.
public struct Presence: AsyncSequence, Sendable {
    /// Whether somebody owns the name.
    public enum Element: Sendable, Hashable {
        /// The service is there; `owner` is its unique name.
        case present(owner: BusName)
        /// Nobody owns the name.
        case absent
    }

    let stream: AsyncThrowingStream<Element, any Error>
    let connection: Connection

    public struct AsyncIterator: AsyncIteratorProtocol {
        var base: AsyncThrowingStream<Element, any Error>.Iterator
        let connection: Connection

        public mutating func next() async throws -> Element? {
            try await next(isolation: #isolation)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            try await base.next(isolation: actor)
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: stream.makeAsyncIterator(), connection: connection)
    }
}
