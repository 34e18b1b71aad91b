public import OAuth

/// What the user needs to approve a sign-in on another device. Source: RFC 8628, section 3.3.
///
/// Show ``userCode``, ``verificationURI``, ``prompt(in:)`` and ``warning(in:)``, also beside a picture of
/// ``completeVerificationURI``: the user compares the code with the one that the page shows. Open nothing unasked.
public struct DeviceCode: Sendable {
    /// What the user types, exactly as it came: 1 to 64 characters of printable ASCII.
    public let userCode: String
    /// Where the user types it.
    public let verificationURI: EndpointURL
    /// The same page with the code filled in; nil when the service gives none.
    public let completeVerificationURI: EndpointURL?
    /// The service's name for people.
    public let service: String
    /// The server that asks.
    public let issuer: Issuer
    /// Seconds since 1970 after which the code is not polled for any more.
    public let expiresAt: Double
    /// The whole minutes until then, when the code came; at least 1.
    public let minutes: Int

    /// The code of an authorization that is polled for at most `lifetime` seconds from `now` on.
    package init(
        _ authorization: DeviceAuthorization, service: Service, issuer: Issuer, lifetime: Double, now: Double
    ) {
        userCode = authorization.userCode
        verificationURI = authorization.verificationURI
        completeVerificationURI = authorization.completeVerificationURI
        self.service = service.displayName
        self.issuer = issuer
        expiresAt = now + lifetime
        minutes = max(1, Int(lifetime / 60))
    }

    /// What a picture of the address holds, such as a QR code. It is the complete address, else the plain one.
    public var pictured: EndpointURL { completeVerificationURI ?? verificationURI }

    /// What to do, in the given language. It names the service, the page's host, the server's host and the minutes
    /// left.
    public func prompt(in language: Language = .user) -> String {
        Words.devicePrompt.text(
            in: language, service, verificationURI.origin.authority, issuer.url.origin.authority, "\(minutes)")
    }

    /// The warning that belongs beside the code (RFC 8628, section 5.4). It is in the given language.
    public func warning(in language: Language = .user) -> String {
        Words.deviceWarning.text(in: language)
    }
}

extension DeviceCode: CustomStringConvertible, CustomReflectable {
    /// The service and the host, without the code.
    public var description: String { "device code of \(service) at \(verificationURI.origin.authority)" }

    public var customMirror: Mirror {
        Mirror(self, children: ["service": service, "issuer": issuer, "expiresAt": expiresAt], displayStyle: .struct)
    }
}
