#if Desktop
import DBus

extension Notifications {
    /// An event of a notification.
    package enum Event: Sendable, Hashable {
        /// It was closed, and its identifier is no longer valid.
        case closed(DesktopNotification.ID, Reason)
        /// The user chose an action.
        case actionInvoked(DesktopNotification.ID, key: String)
    }

    /// Why a notification was closed.
    package enum Reason: Sendable, Hashable {
        case expired
        case dismissed
        /// ``Notifications/close(_:)`` was called.
        case closedByCall
        /// Another reason, with the server's number.
        case other(UInt32)
    }

    /// The events of notifications, in order. It ends as `Signals` of the module `DBus` do; malformed signals are skipped.
    package struct Events: AsyncSequence, Sendable {
        package typealias Element = Event

        let signals: Signals

        package struct AsyncIterator: AsyncIteratorProtocol {
            var base: Signals.AsyncIterator

            package mutating func next() async throws -> Event? {
                try await next(isolation: #isolation)
            }

            package mutating func next(isolation actor: isolated (any Actor)?) async throws -> Event? {
                while let signal = try await base.next(isolation: actor) {
                    if let event = Event(signal) { return event }
                }
                return nil
            }
        }

        package func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(base: signals.makeAsyncIterator())
        }
    }
}

extension Notifications.Event {
    /// Reads a signal; nil for any other one.
    init?(_ signal: Signal) {
        switch signal.member {
        case "NotificationClosed":
            guard let (number, reason) = try? signal.arguments.read(UInt32.self, UInt32.self) else { return nil }
            self = .closed(DesktopNotification.ID(number), Notifications.Reason(reason))
        case "ActionInvoked":
            guard let (number, key) = try? signal.arguments.read(UInt32.self, String.self) else { return nil }
            self = .actionInvoked(DesktopNotification.ID(number), key: key)
        default: return nil
        }
    }
}

extension Notifications.Reason {
    fileprivate init(_ number: UInt32) {
        self =
            switch number {
            case 1: .expired
            case 2: .dismissed
            case 3: .closedByCall
            default: .other(number)
            }
    }
}
#endif
