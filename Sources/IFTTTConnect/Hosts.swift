public import Handshake
public import OAuth

/// Where the parts of IFTTT are (dossier 2.1).
///
/// A sandbox, or any other stand-in, serves all of them at one origin.
public struct Hosts: Sendable, Hashable {
    /// The Connect API, below `/v2`.
    public let connect: EndpointURL
    /// Location events, below `/v1`.
    public let location: EndpointURL
    /// Realtime notifications, below `/v1`.
    public let realtime: EndpointURL
    /// The site: the web flow, the pages of connections and services.
    public let site: EndpointURL

    /// Names each host; only the origins count.
    public init(connect: EndpointURL, location: EndpointURL, realtime: EndpointURL, site: EndpointURL) {
        self.connect = connect.at(path: "/")
        self.location = location.at(path: "/")
        self.realtime = realtime.at(path: "/")
        self.site = site.at(path: "/")
    }

    /// The service itself.
    public static let production = Hosts(
        connect: EndpointURL(https: "connect.ifttt.com", path: "/"),
        location: EndpointURL(https: "connectapi.ifttt.com", path: "/"),
        realtime: EndpointURL(https: "realtime.ifttt.com", path: "/"),
        site: EndpointURL(https: "ifttt.com", path: "/"))

    /// A stand-in that serves every part at one origin, such as a sandbox.
    public init(allAt base: EndpointURL) {
        self.init(connect: base, location: base, realtime: base, site: base)
    }

    /// The hosts of a service description: the vendor's own beside the vendor's own site, else all at its API's.
    public init(of service: Service) {
        let site = service.authorizationServer.issuer.url
        guard site.origin != Hosts.production.site.origin, let api = service.apiRoot else {
            self = .production
            return
        }
        self.init(connect: api, location: api, realtime: api, site: site)
    }

    /// The page that tells of privacy and terms.
    public var terms: EndpointURL { site.at(path: Self.termsPath) }

    static let termsPath = "/terms"

    /// A path, with its query, at the origin of one of the hosts. `target` begins with a slash and is already encoded.
    static func endpoint(_ host: EndpointURL, _ target: String) throws(ConnectError) -> EndpointURL {
        do {
            // The origin was accepted when the host was made; plain http stands only where it was allowed.
            return try EndpointURL(
                host.origin.description + target,
                security: host.origin.scheme == .http ? .allowingInsecureLoopback : .httpsOnly)
        } catch {
            throw .input(member: "url", problem: "\(error)")
        }
    }

    /// A text as one segment of a path.
    ///
    /// - Throws: ``ConnectError/input(member:problem:)`` for nothing, for what means another folder, and for more than
    ///   256 bytes.
    static func segment(_ text: String, _ member: String) throws(ConnectError) -> String {
        guard !text.isEmpty, text != ".", text != "..", text.utf8.count <= 256 else {
            throw .input(member: member, problem: "“\(quoted(text, limit: 80))” cannot stand in a path")
        }
        return PercentEncoding.query(text)
    }
}

extension ActivationAddresses {
    /// The site of these hosts.
    ///
    /// - Parameters:
    ///   - hosts: where the parts of IFTTT are.
    ///   - handoffPrefix: what takes the place of the app's scheme; the sandbox has a page for it.
    public init(_ hosts: Hosts, handoffPrefix: String = "ifttt-handoff-v1://connections/") {
        self.init(site: hosts.site, handoffPrefix: handoffPrefix)
    }
}
