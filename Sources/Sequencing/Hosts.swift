public import Handshake
public import OAuth

extension Sequencing {
    /// The hosts of Sequencing.com (dossier 0.1).
    ///
    /// A sandbox serves all of them at one origin.
    public struct Hosts: Sendable, Hashable {
        /// The web site: accounts, sign-in, Connect-To.
        public let site: EndpointURL
        /// Files, app chains, imports.
        public let api: EndpointURL
        /// Beacons.
        public let beacon: EndpointURL

        /// Creates hosts; only the origins count.
        public init(site: EndpointURL, api: EndpointURL, beacon: EndpointURL) {
            self.site = site.at(path: "/")
            self.api = api.at(path: "/")
            self.beacon = beacon.at(path: "/")
        }

        /// Sequencing.com itself.
        public static let production = Hosts(
            site: EndpointURL(https: "sequencing.com", path: "/"),
            api: EndpointURL(https: "api.sequencing.com", path: "/"),
            beacon: EndpointURL(https: "beacon.sequencing.com", path: "/"))

        /// A server with all of them at one origin, such as a sandbox.
        public init(allAt base: EndpointURL) {
            self.init(site: base, api: base, beacon: base)
        }

        /// The hosts of a service. The beacon host is the vendor's for the vendor's site, otherwise the site's.
        public init(of service: Service) {
            let site = service.authorizationServer.issuer.url
            let production = Hosts.production
            self.init(
                site: site, api: service.apiRoot ?? site,
                beacon: site.origin == production.site.origin ? production.beacon : site)
        }
    }
}
