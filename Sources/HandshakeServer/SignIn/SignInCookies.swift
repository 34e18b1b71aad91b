import Crypto
import HTTPTypes
import Hummingbird
import OAuth

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The cookies of the sign-in routes (RFC 6265; `oauth-security.md` B).
///
/// Where the server is reached by TLS their names begin with `__Host-`: no subdomain and no network can plant one.
struct SignInCookies: Sendable {
    let address: PublicAddress
    let random: RandomSource

    private var prefix: String { address.isSecure ? "__Host-" : "" }

    /// Binds a sign-in to this browser: it is there for one state, and says where to go afterwards.
    func binding(of state: Secret, to page: LocalPath) -> String {
        field(name(of: state), value: Base64URL.encode(page.rawValue.utf8), seconds: 600)
    }

    /// Where to go after the sign-in with this state; nil when it was begun in another browser. What a browser sends
    /// is read as anything else from outside.
    func page(of state: Secret, in request: Request) -> LocalPath? {
        guard let text = value(of: name(of: state), in: request), let bytes = Base64URL.decode(text),
            let path = String(validating: bytes, as: UTF8.self)
        else { return nil }
        return LocalPath(rawValue: path)
    }

    /// Removes the binding.
    func unbinding(of state: Secret) -> String {
        field(name(of: state), value: "", seconds: 0)
    }

    /// The secret that this browser's anti-forgery tokens are made of, and the field that sets it when it is new.
    func secret(in request: Request) -> (secret: String, field: String?) {
        if let known = knownSecret(in: request) { return (known, nil) }
        let secret = Base64URL.encode(random.bytes(32))
        return (secret, field(prefix + "handshake-token", value: secret, seconds: nil))
    }

    func knownSecret(in request: Request) -> String? {
        guard let secret = value(of: prefix + "handshake-token", in: request), secret.utf8.count == 43 else {
            return nil
        }
        return secret
    }

    /// An anti-forgery token: for one browser, one user and one service.
    static func token(_ secret: String, user: String, service: String) -> String {
        Base64URL.encode(SHA256.hash(data: Array("\(secret)\u{0}\(user)\u{0}\(service)".utf8)))
    }

    private func name(of state: Secret) -> String {
        let digest = Base64URL.encode(SHA256.hash(data: Array(state.reveal().utf8)))
        return "\(prefix)handshake-sign-in-\(digest)"
    }

    private func field(_ name: String, value: String, seconds: Int?) -> String {
        "\(name)=\(value); Path=/; HttpOnly; SameSite=Lax" + (address.isSecure ? "; Secure" : "")
            + (seconds.map { "; Max-Age=\($0)" } ?? "")
    }

    private func value(of name: String, in request: Request) -> String? {
        for field in request.headers[values: .cookie] {
            for pair in field.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                if pair.hasPrefix(name + "=") { return String(pair.dropFirst(name.utf8.count + 1)) }
            }
        }
        return nil
    }
}
