import Foundation
import HTTPTypes
import Handshake
import OAuth
import Testing

@testable import Handshake

/// Addresses that the documents of a public API and of its public server name.
@Suite("Inward addresses in documents")
struct DocumentAddressTests {
    private typealias Web = DiscoveredResourceTests.Web

    /// Each range and each spelling of `any-server.md` 9, at its edges.
    static let inward = [
        "127.0.0.1", "127.255.255.254", "localhost", "localhost.", "api.localhost", "127.1", "0x7f.1", "2130706433",
        "0177.0.0.1", "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255",
        "100.64.0.1", "100.127.255.255", "169.254.169.254", "0.0.0.0", "0.255.255.255", "192.0.0.1", "192.0.0.255",
        "198.18.0.1", "198.19.255.255", "224.0.0.1", "255.255.255.255", "[::]", "[::1]", "[fc00::1]", "[fdff::1]",
        "[fe80::1]", "[febf::1]", "[ff00::1]", "[ffff::1]", "[::ffff:10.0.0.1]", "[::ffff:7f00:1]",
        "[64:ff9b::a00:1]", "[64:ff9b:1::808:808]", "[2002:a00:1::]", "[2002:7f00:1::]",
    ]

    /// Their nearest neighbours outside.
    static let outward = [
        "126.255.255.255", "128.0.0.1", "9.255.255.255", "11.0.0.1", "172.15.255.255", "172.32.0.1", "192.167.255.255",
        "192.169.0.1", "100.63.255.255", "100.128.0.1", "169.253.255.255", "169.255.0.1", "1.0.0.1", "192.0.1.1",
        "198.17.255.255", "198.20.0.1", "223.255.255.255", "[fbff::1]", "[fe00::1]", "[2606:2800::1]",
        "[64:ff9b::808:808]", "[2002:808:808::]", "localhost.example",
    ]

    /// Where the documents name an address.
    static let places = [
        "resource_metadata", "authorization_servers", "authorization_endpoint", "token_endpoint", "revocation_endpoint",
        "device_authorization_endpoint", "introspection_endpoint", "pushed_authorization_request_endpoint",
        "registration_endpoint", "userinfo_endpoint", "end_session_endpoint", "backchannel_authentication_endpoint",
        "jwks_uri", "mtls_endpoint_aliases",
    ]

    /// A public API and its server, one of whose documents names the host.
    private static func web(naming host: String, at place: String) throws -> Web {
        let address = "https://\(host)/x"
        let metadata = DiscoveredResourceTests.metadata()
        var members = try #require(try JSONSerialization.jsonObject(with: Data(metadata.content)) as? [String: Any])
        var pages = [DiscoveredResourceTests.own: DiscoveredResourceTests.document()]
        switch place {
        case "resource_metadata":
            pages[DiscoveredResourceTests.mcp] = DiscoveredResourceTests.challenge(
                "Bearer resource_metadata=\"\(address)\"")
        case "authorization_servers":
            pages[DiscoveredResourceTests.own] = DiscoveredResourceTests.document(servers: ["https://\(host)"])
        case "mtls_endpoint_aliases": members[place] = ["token_endpoint": address]
        default: members[place] = address
        }
        pages[DiscoveredResourceTests.server] = .json(200, members)
        return Web(pages)
    }

    private static func error(_ web: Web) async -> HandshakeError? {
        await handshakeError { try await DiscoveredResource.discover(DiscoveredResourceTests.mcp, transport: web) }
    }

    @Test(
        "M901: no place of a document leads inward, in whatever range and spelling, and nothing is sent there",
        arguments: places)
    func refused(_ place: String) async throws {
        for host in Self.inward {
            let web = try Self.web(naming: host, at: place)
            let error = await Self.error(web)
            if place == "resource_metadata" {
                // As if the refusal had named none: the well-known address is asked.
                #expect(error == nil, "\(host)")
            } else {
                #expect(error.map { "\($0)".contains(place) } == true, "\(host)")
            }
            #expect(
                web.messages.allSatisfy { ["api.example", "as.example"].contains($0.head.authority) }, "\(host)")
        }
    }

    @Test("M901: an address beside those ranges is one of the internet", arguments: places)
    func accepted(_ place: String) async throws {
        for host in Self.outward {
            let web = try Self.web(naming: host, at: place)
            let error = await Self.error(web)
            if ["resource_metadata", "authorization_servers"].contains(place) {
                #expect(web.messages.contains { $0.head.authority == host }, "\(host)")
            } else {
                #expect(error == nil, "\(host)")
            }
        }
    }

    @Test("M901: whatever a server's metadata name carries who named it, aliases for certificates too")
    func named() async throws {
        for place in Self.places.dropFirst(2) {
            let web = try Self.web(naming: "other.example", at: place)
            let server = try await DiscoveredResource.discover(DiscoveredResourceTests.mcp, transport: web).server
            let endpoints =
                [
                    server.authorizationEndpoint, server.tokenEndpoint, server.revocationEndpoint,
                    server.deviceAuthorizationEndpoint, server.introspectionEndpoint,
                    server.pushedAuthorizationRequestEndpoint, server.registrationEndpoint, server.userInfoEndpoint,
                    server.endSessionEndpoint, server.backchannelAuthenticationEndpoint, server.keysEndpoint,
                ].compactMap(\.self) + server.mutualTLSAliases.values
            let found = endpoints.filter { $0.origin.host == "other.example" }
            #expect(found.count == 1, "\(place)")
            #expect(found.allSatisfy { $0.namedBy?.host == "as.example" }, "\(place)")
        }
    }
}
