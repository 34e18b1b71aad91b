public import OAuth

/// A URL that turns a connection on without this kit (dossier 2.1 and 3.4). It works from anywhere, such as a mail or a
/// web page.
public struct ConnectURL: Sendable {
    public var connection: ConnectionID
    /// The account's address.
    public var email: EmailAddress
    /// The redirect URI: registered, and `https` or on the loopback interface. Required to skip the
    /// configuration.
    ///
    /// Its redirects carry no state: a mail is opened in any browser, hours later, so the redirect could be forged. Ignore its
    /// content, which has no user token; give it a page of its own that thanks the user and fetches the connection, and not
    /// the callback of an activation.
    public var redirect: CallbackURL?
    /// A code of ``ConnectService/provisionalCode(for:)``.
    public var provisionalCode: Secret?
    /// Whether to skip the service's configuration page.
    public var skipsConfiguration = false
    public var hosts: Hosts

    public init(_ connection: ConnectionID, email: EmailAddress, at hosts: Hosts = .production) {
        self.connection = connection
        self.email = email
        self.hosts = hosts
    }

    /// The URL.
    ///
    /// - Throws: ``ConnectError/input(member:problem:)`` when the configuration is skipped without a redirect, and for a redirect
    ///   that is no page: a private-use scheme, or plain `http` elsewhere.
    public var url: String {
        get throws(ConnectError) {
            guard redirect != nil || !skipsConfiguration else {
                throw .input(
                    member: "redirect", problem: "it is required to skip the configuration page")
            }
            if let redirect, (try? EndpointURL(redirect.rawValue, security: .allowingInsecureLoopback)) == nil {
                throw .input(member: "redirect", problem: "it must be an https URL or on the loopback interface")
            }
            var items = [(name: "email", value: email.rawValue)]
            if let redirect { items.append(("redirect_uri", redirect.rawValue)) }
            if let provisionalCode, !provisionalCode.isEmpty { items.append(("code", provisionalCode.reveal())) }
            if skipsConfiguration { items.append(("skip_config", "true")) }
            return QueryEncoding.address("\(hosts.site.origin)/connect/\(connection)", items: items)
        }
    }
}
