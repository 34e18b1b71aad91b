public import Handshake
public import OAuth

/// The hosts of IFTTT (dossier 2.1).
///
/// A sandbox serves all of them at one origin.
public struct Hosts: Sendable, Hashable {
    /// The Connect API, below `/v2`.
    public let connect: EndpointURL
    /// Location events, below `/v1`.
    public let location: EndpointURL
    /// Realtime notifications, below `/v1`.
    public let realtime: EndpointURL
    /// The site: the web flow, the pages of connections and services.
    public let site: EndpointURL

    /// Creates hosts; only the origins count.
    public init(connect: EndpointURL, location: EndpointURL, realtime: EndpointURL, site: EndpointURL) {
        self.connect = connect.at(path: "/")
        self.location = location.at(path: "/")
        self.realtime = realtime.at(path: "/")
        self.site = site.at(path: "/")
    }

    /// IFTTT itself.
    public static let production = Hosts(
        connect: EndpointURL(https: "connect.ifttt.com", path: "/"),
        location: EndpointURL(https: "connectapi.ifttt.com", path: "/"),
        realtime: EndpointURL(https: "realtime.ifttt.com", path: "/"),
        site: EndpointURL(https: "ifttt.com", path: "/"))

    /// A server with all of them at one origin, such as a sandbox.
    public init(allAt base: EndpointURL) {
        self.init(connect: base, location: base, realtime: base, site: base)
    }

    /// The hosts of a service. They are the vendor's for the vendor's site, otherwise all at the API's origin.
    public init(of service: Service) {
        let site = service.authorizationServer.issuer.url
        guard site.origin != Hosts.production.site.origin, let api = service.apiRoot else {
            self = .production
            return
        }
        self.init(connect: api, location: api, realtime: api, site: site)
    }

    /// The URL of privacy and terms.
    public var terms: EndpointURL { site.at(path: Self.termsPath) }

    static let termsPath = "/terms"

    /// A text as one segment of a path.
    ///
    /// - Throws: ``ConnectError/input(member:problem:)`` when it is empty, `.` or `..`, or longer than
    ///   256 bytes.
    static func segment(_ text: String, _ member: String) throws(ConnectError) -> String {
        guard !text.isEmpty, text != ".", text != "..", text.utf8.count <= 256 else {
            throw .input(member: member, problem: "“\(quoted(text, limit: 80))” is not valid in a path")
        }
        return PercentEncoding.query(text)
    }
}

extension ActivationAddresses {
    /// The URLs on the site of these hosts.
    ///
    /// - Parameters:
    ///   - hosts: the hosts of IFTTT.
    ///   - handoffPrefix: the prefix that replaces the app's scheme; the sandbox has a page for it.
    public init(_ hosts: Hosts, handoffPrefix: String = "ifttt-handoff-v1://connections/") {
        self.init(site: hosts.site, handoffPrefix: handoffPrefix)
    }
}
