#if Sandbox
/// The redirect URIs that every interactive client of the sandbox has registered.
package enum SharedRedirects {
    /// Loopback with any port on both address families, one fixed port, a private-use scheme and a claimed https address.
    package static let all = [
        "http://127.0.0.1/callback", "http://[::1]/callback", "http://127.0.0.1:8765/callback",
        "com.example.app:/callback", "https://app.example.test/callback",
    ]

    /// The callback of a server on this machine that has the routes of several services below `/connect`, at any port.
    package static func server(_ service: String) -> [String] {
        ["http://127.0.0.1/connect/\(service)/callback"]
    }
}
#endif
