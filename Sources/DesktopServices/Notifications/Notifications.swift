#if Desktop
public import DBus

/// The desktop's notification service (Desktop Notifications Specification 1.2; beacons dossier 10.2).
public struct Notifications: Sendable {
    /// Something that a server can do; names that are not listed here are kept.
    public struct Capability: RawRepresentable, Sendable, Hashable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// It shows buttons and reports clicks.
        public static let actions = Capability(rawValue: "actions")
        /// It shows the body.
        public static let body = Capability(rawValue: "body")
        /// It reads some HTML in the body.
        public static let bodyMarkup = Capability(rawValue: "body-markup")
        /// It keeps notifications until they are dismissed.
        public static let persistence = Capability(rawValue: "persistence")
    }

    /// Who shows the notifications, in its own words.
    public struct Server: Sendable, Hashable {
        public let name: String
        public let vendor: String
        public let version: String
        /// The version of the specification, as in `1.2`.
        public let specification: String
    }

    /// The program's name as users know it.
    public let application: String
    /// How long the server may take for an answer.
    private let timeout: Duration
    private let service: RemoteObject

    static let name: BusName = "org.freedesktop.Notifications"
    static let interface: InterfaceName = "org.freedesktop.Notifications"
    static let path: ObjectPath = "/org/freedesktop/Notifications"

    /// Notifications over a connection to the session's bus. Nothing is asked yet.
    ///
    /// - Parameters:
    ///   - connection: The session's bus.
    ///   - application: The program's name as users know it.
    ///   - timeout: How long the server may take for an answer.
    public init(_ connection: Connection, application: String, timeout: Duration = Connection.standardTimeout) {
        self.application = application
        self.timeout = timeout
        service = connection.object(Self.path, of: Self.name)
    }

    /// What the server can do.
    ///
    /// - Throws: ``DesktopServicesError/noNotificationService`` or ``DesktopServicesError/bus(_:)``
    public func capabilities() async throws -> Set<Capability> {
        Set(try await call("GetCapabilities").read([String].self).map(Capability.init(rawValue:)))
    }

    /// Who the server is.
    ///
    /// - Throws: As ``capabilities()``.
    public func server() async throws -> Server {
        let (name, vendor, version, specification) = try await call("GetServerInformation")
            .read(String.self, String.self, String.self, String.self)
        return Server(name: name, vendor: vendor, version: version, specification: specification)
    }

    /// Shows a notification, or puts it in the place of an earlier one.
    ///
    /// The server is asked each time what it can do: a desktop may exchange it at any moment.
    ///
    /// - Parameters:
    ///   - notification: What is shown.
    ///   - earlier: The notification that it replaces; one that is gone is replaced by a new one.
    /// - Returns: Its identifier; when it replaces another, the server may give the same.
    /// - Throws: As ``capabilities()``.
    public func show(
        _ notification: DesktopNotification, replacing earlier: DesktopNotification.ID? = nil
    ) async throws -> DesktopNotification.ID {
        let capabilities = try await capabilities()
        let arguments = notification.arguments(
            application: application, replacing: earlier, capabilities: capabilities)
        return DesktopNotification.ID(try await call("Notify", arguments).read(UInt32.self))
    }

    /// Takes a notification away. One that is gone already is no error.
    ///
    /// - Throws: As ``capabilities()``.
    public func close(_ id: DesktopNotification.ID) async throws {
        do {
            try await call("CloseNotification", [.uint32(id.number)])
        } catch DesktopServicesError.bus(.remote(let error)) where error.message.isEmpty {
            // The specification's answer for a notification that is gone: an error without a text.
        }
    }

    @discardableResult
    private func call(_ member: MemberName, _ arguments: [Value] = []) async throws -> [Value] {
        try await DesktopServicesError.placing(absent: .noNotificationService) {
            try await service.call(member, in: Self.interface, arguments, timeout: timeout)
        }
    }

    /// What happens to notifications, those of other programs included, from the return of this function on.
    ///
    /// - Throws: ``DesktopServicesError/bus(_:)``
    public func events() async throws -> Events {
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

    /// This text as one harmless line of at most `limit` characters.
    fileprivate func line(_ limit: Int) -> String {
        visible(limit: limit)
    }

    /// This text as harmless lines of at most `limit` characters in all.
    fileprivate func lines(_ limit: Int) -> String {
        let isCut = unicodeScalars.count > limit
        let kept = String(String.UnicodeScalarView(unicodeScalars.prefix(limit))) + (isCut ? "…" : "")
        return kept.split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0).visible(limit: .max) }.joined(separator: "\n")
    }

    /// This text so that a reader of markup shows it as it is.
    fileprivate var escapedForMarkup: String {
        // By scalars: a combining mark must not hide the bracket that it stands on.
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
