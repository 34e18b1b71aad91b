/// A signal of an object.
package struct Signal: Sendable, Hashable {
    /// The object.
    package let path: ObjectPath
    package let interface: InterfaceName
    package let member: MemberName
    package let arguments: [Value]
    /// The sender, as stated by the bus; nil before sending.
    package let sender: BusName?

    /// Creates a signal to emit.
    package init(path: ObjectPath, interface: InterfaceName, member: MemberName, arguments: [Value] = []) {
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

/// The signals that match a rule, in order of arrival.
///
/// For one reader. It ends with ``DBusError/connectionLost(reason:)`` when the connection ends, with
/// ``DBusError/signalOverflow(limit:)`` when the reader is too slow under ``Connection/Overflow/fail``, and without an error when
/// the reading task is cancelled; buffered signals are read first. It keeps its connection open, and the bus stops sending
/// these signals when the sequence is released.
package struct Signals: AsyncSequence, Sendable {
    package typealias Element = Signal

    let stream: AsyncThrowingStream<Signal, any Error>
    let connection: Connection

    package struct AsyncIterator: AsyncIteratorProtocol {
        var base: AsyncThrowingStream<Signal, any Error>.Iterator
        let connection: Connection

        package mutating func next() async throws -> Signal? {
            try await next(isolation: #isolation)
        }

        package mutating func next(isolation actor: isolated (any Actor)?) async throws -> Signal? {
            try await base.next(isolation: actor)
        }
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: stream.makeAsyncIterator(), connection: connection)
    }
}

/// The ownership of a name and each change of it: a service that stopped or restarted.
///
/// The first element arrives immediately. Only the newest state is buffered; because every connection has a unique name, a
/// service that restarted in between appears as another owner. For one reader; it ends as ``Signals``
/// does.
package struct Presence: AsyncSequence, Sendable {
    /// Whether the name has an owner.
    package enum Element: Sendable, Hashable {
        /// The service runs; `owner` is its unique name.
        case present(owner: BusName)
        /// The name has no owner.
        case absent
    }

    let stream: AsyncThrowingStream<Element, any Error>
    let connection: Connection

    package struct AsyncIterator: AsyncIteratorProtocol {
        var base: AsyncThrowingStream<Element, any Error>.Iterator
        let connection: Connection

        package mutating func next() async throws -> Element? {
            try await next(isolation: #isolation)
        }

        package mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            try await base.next(isolation: actor)
        }
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: stream.makeAsyncIterator(), connection: connection)
    }
}
