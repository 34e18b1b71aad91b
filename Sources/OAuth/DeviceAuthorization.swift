/// The code that a user approves on another device, and where. Source: RFC 8628, section 3.2.
public struct DeviceAuthorization: Sendable {
    /// What the client polls with. At most 4 KiB of printable ASCII.
    public let deviceCode: Secret
    /// What the user types, exactly as it came: 1 to 64 characters of printable ASCII.
    public let userCode: String
    /// Where the user types it. The address is `https:`, at most 2048 bytes, in the server's network zone or a more
    /// public one.
    public let verificationURI: EndpointURL
    /// The same address with the code in it, under the same rules. Nil when the server gives none.
    public let completeVerificationURI: EndpointURL?
    /// How many seconds the codes are valid, from 1 to 3600. It is 300 when the server does not say.
    public let lifetime: Double
    /// How many seconds to wait between two polls at first, from 1 to 3600. It is 5 when the server does not say.
    public let interval: Double

    static let maximumLifetime: Double = 3600
    static let defaultLifetime: Double = 300
    private static let maximumDeviceCodeLength = 4096
    private static let maximumAddressLength = 2048

    init(_ answer: ResponseReader, for server: AuthorizationServerMetadata) throws(OAuthError) {
        guard let deviceCode = try answer.token("device_code") else {
            throw answer.malformed("device_code", expected: "a non-empty string")
        }
        guard deviceCode.reveal().utf8.count <= Self.maximumDeviceCodeLength else {
            throw .malformed(
                step: answer.step, member: "device_code", expected: "at most 4096 bytes", found: "more")
        }
        self.deviceCode = deviceCode
        let userCode = try answer.requiredString("user_code")
        guard (1...64).contains(userCode.utf8.count), userCode.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }),
            userCode.utf8.first != 0x20, userCode.utf8.last != 0x20
        else {
            throw .malformed(
                step: answer.step, member: "user_code", expected: "1 to 64 printable ASCII characters",
                found: "other characters, none or more")
        }
        self.userCode = userCode
        // Drafts before RFC 8628 called the member `verification_url`, as some servers still do.
        let name =
            answer["verification_uri"] == nil && answer["verification_url"] != nil
            ? "verification_url" : "verification_uri"
        guard let address = try Self.address(name, in: answer, for: server) else {
            throw answer.malformed("verification_uri", expected: "an https address")
        }
        verificationURI = address
        // One of another origin is left out: the user is told the host of the plain one.
        completeVerificationURI = try Self.address("verification_uri_complete", in: answer, for: server)
            .flatMap { $0.origin == address.origin ? $0 : nil }
        lifetime = try Self.lifetime(in: answer)
        interval = DevicePolling.seconds(answer["interval"]) ?? DevicePolling.defaultInterval
    }

    private static func lifetime(in answer: ResponseReader) throws(OAuthError) -> Double {
        guard let value = try answer.integer("expires_in") else { return defaultLifetime }
        guard value > 0 else {
            throw answer.malformed("expires_in", expected: "a positive number of seconds", found: "\(value)")
        }
        return min(Double(value), maximumLifetime)
    }

    /// An address that the user is led to, checked before anyone sees it.
    private static func address(
        _ name: String, in answer: ResponseReader, for server: AuthorizationServerMetadata
    ) throws(OAuthError) -> EndpointURL? {
        guard let text = try answer.string(name), !text.isEmpty else { return nil }
        guard text.utf8.count <= maximumAddressLength else {
            throw .malformed(
                step: answer.step, member: name, expected: "at most \(maximumAddressLength) bytes", found: "more")
        }
        guard
            let address = try answer.page(
                name, security: server.issuer.url.origin.scheme == .http ? .allowingInsecureLoopback : .httpsOnly)
        else { return nil }
        let asked = (server.deviceAuthorizationEndpoint ?? server.tokenEndpoint).origin
        guard NetworkZone.mayLead(from: asked, to: address.origin) else {
            throw answer.malformed(
                name, expected: "an address outside this machine and its local network", found: address.origin.authority
            )
        }
        return address
    }
}

extension DeviceAuthorization: CustomReflectable {
    /// Without the codes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["verificationURI": verificationURI, "lifetime": lifetime, "interval": interval],
            displayStyle: .struct)
    }
}
