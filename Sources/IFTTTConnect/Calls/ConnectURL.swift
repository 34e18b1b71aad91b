public import OAuth

/// The address that turns a connection on from anywhere, also where no kit is: a mail, a web page (dossier 2.1 and 3.4).
public struct ConnectURL: Sendable {
    public var connection: ConnectionID
    /// Whose account it is for.
    public var email: EmailAddress
    /// Where the user comes back: an address that is registered, `https` or on this machine's loopback interface. Needed to
    /// skip the configuration.
    ///
    /// Whoever comes back there brings no state: a mail is opened in any browser, hours later, so the redirect cannot be told
    /// from one that somebody made up. Nothing in it counts, and no user token comes with it; give it a page of its own that
    /// thanks and looks the connection up, and not the address that an activation returns to.
    public var redirect: CallbackURL?
    /// What ``ConnectService/provisionalCode(for:)`` made of a code of the partner's OAuth server.
    public var provisionalCode: Secret?
    /// Whether the service's configuration page is left out.
    public var skipsConfiguration = false
    public var hosts: Hosts

    public init(_ connection: ConnectionID, email: EmailAddress, at hosts: Hosts = .production) {
        self.connection = connection
        self.email = email
        self.hosts = hosts
    }

    /// The address itself.
    ///
    /// - Throws: ``ConnectError/input(member:problem:)`` when the configuration is to be skipped without a redirect, and for a
    ///   redirect that is no page: an app's own scheme, or plain `http` elsewhere.
    public var url: String {
        get throws(ConnectError) {
            guard redirect != nil || !skipsConfiguration else {
                throw .input(
                    member: "redirect", problem: "without the configuration page the user has to come back to yours")
            }
            if let redirect, (try? EndpointURL(redirect.rawValue, security: .allowingInsecureLoopback)) == nil {
                throw .input(member: "redirect", problem: "it is an https address, or one of the loopback interface")
            }
            var items = [(name: "email", value: email.rawValue)]
            if let redirect { items.append(("redirect_uri", redirect.rawValue)) }
            if let provisionalCode, !provisionalCode.isEmpty { items.append(("code", provisionalCode.reveal())) }
            if skipsConfiguration { items.append(("skip_config", "true")) }
            return QueryEncoding.address("\(hosts.site.origin)/connect/\(connection)", items: items)
        }
    }
}
