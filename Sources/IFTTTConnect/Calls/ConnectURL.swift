public import OAuth

/// The address that turns a connection on from anywhere, also where no kit is: a mail, a web page (dossier 2.1 and 3.4).
public struct ConnectURL: Sendable {
    public var connection: ConnectionID
    /// Whose account it is for.
    public var email: EmailAddress
    /// Where the user comes back: an address that is registered. Needed to skip the configuration.
    public var redirect: ReturnAddress?
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
    /// - Throws: ``ConnectError/input(member:problem:)`` when the configuration is to be skipped without a redirect.
    public var url: String {
        get throws(ConnectError) {
            guard redirect != nil || !skipsConfiguration else {
                throw .input(
                    member: "redirect", problem: "without the configuration page the user has to come back to yours")
            }
            var items = [(name: "email", value: email.rawValue)]
            if let redirect { items.append(("redirect_uri", redirect.rawValue)) }
            if let provisionalCode, !provisionalCode.isEmpty { items.append(("code", provisionalCode.reveal())) }
            if skipsConfiguration { items.append(("skip_config", "true")) }
            return QueryEncoding.address("\(hosts.site.origin)/connect/\(connection)", items: items)
        }
    }
}
