#if Sandbox
import SandboxCore

/// The frames in which a browser ends its sessions at clients (OpenID Connect Front-Channel Logout section 3).
struct FrontchannelFrames: Sendable {
    /// The address of each frame.
    let addresses: [String]

    /// - Parameters:
    ///   - clients: the clients that the user has signed in to in this browser, with the `sid` of each.
    ///   - server: the server whose session ends.
    init(of clients: [(id: String, sessionID: String)], at server: AuthorizationServer) {
        addresses = clients.compactMap { id, sessionID in
            guard let logout = server.client(id)?.frontchannelLogout else { return nil }
            guard logout.needsSession else { return logout.uri }
            let parameters = FormParameters([("iss", server.issuer), ("sid", sessionID)]).urlEncoded
            return logout.uri + (logout.uri.contains("?") ? "&" : "?") + parameters
        }
    }

    /// What a content security policy has to allow.
    var origins: [String] { addresses.compactMap(Self.origin) }

    /// Scheme, host and port of an `http:` or `https:` address; nil for any other, and for one with what no policy can hold.
    static func origin(of address: String) -> String? {
        guard let separator = address.firstRange(of: "://") else { return nil }
        let scheme = address[..<separator.lowerBound]
        let authority = address[separator.upperBound...].prefix { !"/?#".contains($0) }
        let isPlain = authority.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "-.:[]".utf8.contains(byte)
            }
        }
        guard scheme == "https" || scheme == "http", !authority.isEmpty, isPlain else { return nil }
        return "\(scheme)://\(authority)"
    }
}
#endif
