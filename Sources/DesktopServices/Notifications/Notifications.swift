#if Desktop
package import DBus

/// The desktop's notification service (Desktop Notifications Specification 1.2; beacons dossier 10.2).
package struct Notifications: Sendable {
    /// A capability of a server; unlisted names are preserved.
    package struct Capability: RawRepresentable, Sendable, Hashable {
        package let rawValue: String

        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Shows buttons and reports clicks.
        package static let actions = Capability(rawValue: "actions")
        /// Shows the body.
        package static let body = Capability(rawValue: "body")
        /// Interprets some HTML in the body.
        package static let bodyMarkup = Capability(rawValue: "body-markup")
    }

    /// The program's name as users know it.
    package let application: String
    /// The request timeout.
    private let timeout: Duration
    private let service: RemoteObject

    static let name: BusName = "org.freedesktop.Notifications"
    static let interface: InterfaceName = "org.freedesktop.Notifications"
    static let path: ObjectPath = "/org/freedesktop/Notifications"

    /// Creates a client over a connection to the session bus. Sends nothing yet.
    ///
    /// - Parameters:
    ///   - connection: The session bus.
    ///   - application: The program's name as users know it.
    ///   - timeout: The request timeout.
    package init(_ connection: Connection, application: String, timeout: Duration = Connection.standardTimeout) {
        self.application = application
        self.timeout = timeout
        service = connection.object(Self.path, of: Self.name)
    }

    /// The server's capabilities.
    ///
    /// - Throws: ``DesktopServicesError/noNotificationService`` or ``DesktopServicesError/bus(_:)``
    package func capabilities() async throws -> Set<Capability> {
        Set(try await call("GetCapabilities").read([String].self).map(Capability.init(rawValue:)))
    }

    /// Shows a notification, or replaces an earlier one.
    ///
    /// Queries the server's capabilities each time, because a desktop can replace its server at any moment.
    ///
    /// - Parameters:
    ///   - notification: The notification to show.
    ///   - earlier: The notification to replace; if it was closed, a new one appears.
    /// - Returns: Its identifier; when it replaces another, the server may return the same.
    /// - Throws: As ``capabilities()``.
    package func show(
        _ notification: DesktopNotification, replacing earlier: DesktopNotification.ID? = nil
    ) async throws -> DesktopNotification.ID {
        let capabilities = try await capabilities()
        let arguments = notification.arguments(
            application: application, replacing: earlier, capabilities: capabilities)
        return DesktopNotification.ID(try await call("Notify", arguments).read(UInt32.self))
    }

    /// Closes a notification. One that is closed already is no error.
    ///
    /// - Throws: As ``capabilities()``.
    package func close(_ id: DesktopNotification.ID) async throws {
        do {
            try await call("CloseNotification", [.uint32(id.number)])
        } catch DesktopServicesError.bus(.remote(let error)) where error.message.isEmpty {
            // The specification's answer for a closed notification: an error without a text.
        }
    }

    @discardableResult
    private func call(_ member: MemberName, _ arguments: [Value] = []) async throws -> [Value] {
        try await DesktopServicesError.placing(absent: .noNotificationService) {
            try await service.call(member, in: Self.interface, arguments, timeout: timeout)
        }
    }

    /// The events of notifications, including those of other programs, from the return of this function on.
    ///
    /// - Throws: ``DesktopServicesError/bus(_:)``
    package func events() async throws -> Events {
        try await DesktopServicesError.placing(absent: .noNotificationService) {
            Events(signals: try await service.signals(of: Self.interface))
        }
    }
}

extension DesktopNotification {
    /// The arguments of `Notify`.
    func arguments(
        application: String, replacing earlier: ID?, capabilities: Set<Notifications.Capability>
    ) -> [Value] {
        let hasActions = capabilities.contains(.actions)
        let actions = hasActions ? self.actions.prefix(8).flatMap { [$0.key.line(200), $0.label.line(100)] } : []
        let plain = body.lines(2000)
        return [
            application.line(100).value, .uint32(earlier?.number ?? 0), icon.line(200).value, summary.line(200).value,
            (capabilities.contains(.bodyMarkup) ? plain.escapedForMarkup : plain).value, actions.value, hints.value,
            .int32(expiry.milliseconds),
        ]
    }

    private var hints: [String: Value] {
        var hints: [String: Value] = ["urgency": .byte(urgency.rawValue)]
        if !category.isEmpty { hints["category"] = .string(category.line(100)) }
        if isTransient { hints["transient"] = true }
        if let image, image.hasPrefix("/") { hints["image-path"] = .string(image.fileURL) }
        return hints
    }
}

extension String {
    /// This path as a `file` URL (RFC 8089): all but letters, digits and `/-._~` is percent-encoded.
    fileprivate var fileURL: String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-._~".utf8)
        return utf8.reduce(into: "file://") { result, byte in
            if plain.contains(byte) {
                result.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.count < 2 ? "0" : "") + digits
            }
        }
    }

    /// This text as one line of at most `limit` characters, without control characters.
    fileprivate func line(_ limit: Int) -> String {
        visible(limit: limit)
    }

    /// This text as lines of at most `limit` characters in all, without control characters.
    fileprivate func lines(_ limit: Int) -> String {
        let isCut = unicodeScalars.count > limit
        let kept = String(String.UnicodeScalarView(unicodeScalars.prefix(limit))) + (isCut ? "…" : "")
        return kept.split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0).visible(limit: .max) }.joined(separator: "\n")
    }

    /// This text with markup escaped.
    fileprivate var escapedForMarkup: String {
        // By scalars: a combining mark must not hide the bracket before it.
        unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
#endif
