import OAuth

/// The caller's identity in headers and URLs (dossier 2.2 and 3.4).
package struct SDKIdentity: Sendable, Hashable, Codable {
    /// The SDK version, such as `2.8.0`. It has 1 to 64 letters, digits, periods, hyphens and plus signs.
    package let version: String
    /// The platform whose conventions are used.
    package let platform: Platform

    /// The platforms that the service knows.
    package enum Platform: String, Sendable, Hashable, Codable, CaseIterable {
        case ios, android
    }

    /// The default: the conventions of `ios` in version 2.8.0.
    package static let standard = SDKIdentity(checked: "2.8.0", platform: .ios)

    /// Creates an identity.
    ///
    /// - Returns: nil for a version that is empty, or invalid in a header or a URL (dossier 10.2, W25).
    package init?(version: String, platform: Platform) {
        guard (1...64).contains(version.utf8.count),
            version.utf8.allSatisfy({ PercentEncoding.isUnreserved($0) || $0 == UInt8(ascii: "+") })
        else { return nil }
        self.init(checked: version, platform: platform)
    }

    private init(checked version: String, platform: Platform) {
        self.version = version
        self.platform = platform
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let version = try container.decode(String.self, forKey: .version)
        guard let identity = Self(version: version, platform: try container.decode(Platform.self, forKey: .platform))
        else {
            throw DecodingError.dataCorruptedError(forKey: .version, in: container, debugDescription: "not a version")
        }
        self = identity
    }
}

/// The random ID of an installation (dossier 7; 10.2, W24). It exists only with the user's consent to analytics.
public struct AnonymousID: RawRepresentable, Sendable, Hashable, Codable {
    /// A UUID in its text form.
    public let rawValue: String

    /// The ID in this spelling, or nil when it is not a UUID.
    public init?(rawValue: String) {
        let groups = rawValue.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
            groups.joined().allSatisfy({ $0.isASCII && $0.isHexDigit })
        else { return nil }
        self.rawValue = rawValue
    }
}

/// A mail program that the service's page can open (dossier 3.4). The value is the service's name for it.
public struct MailClient: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The mail programs that are checked on iOS, in the order of the report.
    public static let ios = ["message", "googlegmail", "ms-outlook", "ymail", "airmail", "readdle-spark"].map {
        MailClient(rawValue: $0 + "://")
    }

    /// The mail programs that are checked on Android.
    public static let android = [
        "com.google.android.gm", "com.microsoft.office.outlook", "com.samsung.android.email.provider",
        "com.yahoo.mobile.client.android.mail",
    ].map(MailClient.init(rawValue:))
}
