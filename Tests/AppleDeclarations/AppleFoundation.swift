// Foundation, and what it has on Apple's platforms only. The check imports this module wherever a source imports Foundation.
@_exported public import Foundation
@_exported public import FoundationNetworking

/// Declared on Linux too, as unavailable.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"

extension URLSession {
    public struct AsyncBytes: AsyncSequence, Sendable {
        public typealias Element = UInt8
        public struct AsyncIterator: AsyncIteratorProtocol {
            public mutating func next() async throws -> UInt8? { nil }
        }
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
    }

    public func bytes(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        throw URLError(.unsupportedURL)
    }
}

extension NotificationCenter {
    public final class Notifications: AsyncSequence, @unchecked Sendable {
        public typealias Element = Notification
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> Notification? { nil }
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(Never) -> Notification? { nil }
        }
        public func makeAsyncIterator() -> Iterator { Iterator() }
    }

    public func notifications(named name: Notification.Name, object: AnyObject? = nil) -> Notifications {
        Notifications()
    }
}

extension FileManager {
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? { nil }
}

public final class RelativeDateTimeFormatter: Formatter {
    public enum DateTimeStyle: Int, Sendable {
        case numeric = 0
        case named
    }
    public var locale: Locale! {
        get { nil }
        set {}
    }
    public var dateTimeStyle: DateTimeStyle {
        get { .numeric }
        set {}
    }
    public func localizedString(fromTimeInterval timeInterval: TimeInterval) -> String { "" }
}
