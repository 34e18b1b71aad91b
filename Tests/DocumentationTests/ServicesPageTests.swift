import Foundation
import Handshake
import OAuth
import Testing

/// `Documentation/Services.md`: its tables are generated from the services' lines.
@Suite("The page of services")
struct ServicesPageTests {
    private static let page = Repository.root.appending(path: "Documentation/Services.md")
    private static let mark = "swift test --filter ServicesPageTests -->\n"

    /// Members that say nothing about how a service departs from the standards.
    private static let ordinary: Set<String> = [
        "name", "title", "documentation", "sources", "issuer", "discovers", "authorize_url", "token_url",
        "revocation_url", "device_authorization_url", "userinfo_url", "subject_pointer", "name_pointer", "api_origins",
        "default_scopes", "offline", "client_authentication", "pkce", "public_clients", "loopback_redirects",
        "refresh_rotates", "placeholders", "unsupported",
    ]

    @Test("has every service, what it needs and how it departs from the standards")
    func generated() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let end = try #require(text.range(of: Self.mark)).upperBound
        let expected = text[..<end] + Self.tables
        if ProcessInfo.processInfo.environment["UPDATE_PAGES"] != nil {
            try expected.write(to: Self.page, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: Self.page, encoding: .utf8) == expected)
    }

    @Test("agrees with the other pages about how many services there are")
    func count() throws {
        let supported = BuiltInService.all.filter { $0.unsupportedReason == nil }.map(\.name)
        let (lines, number) = (supported.count, Set(supported + Service.builtIn.map(\.name)).count)
        for (page, text) in [
            ("README.md", "the \(number) services"), ("CHANGELOG.md", "* \(number) services"),
            ("Documentation/Services.md", "knows \(number) services"),
            ("Documentation/Services.md", "the \(lines) below"),
        ] {
            let words = try String(contentsOf: Repository.root.appending(path: page), encoding: .utf8)
            #expect(words.contains(text), "\(page): \(text)")
        }
    }

    @Test("explains every member that a line has")
    func members() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let end = try #require(text.range(of: Self.mark)).lowerBound
        for name in Set(BuiltInService.all.flatMap(\.facts.keys)) {
            #expect(text[..<end].contains("`\(name)`"), "\(name)")
        }
    }

    private static var tables: String {
        let all = BuiltInService.all
        let supported = all.filter { $0.unsupportedReason == nil }
        var text = """

            ## Supported: \(supported.count)

            | service | name | needs | refresh token | departs by |
            |---|---|---|---|---|

            """
        for service in supported {
            let needs = service.placeholders.map { "`\($0.name)`" + ($0.defaultValue == nil ? "" : " (optional)") }
            let departures = service.facts.keys.filter { !ordinary.contains($0) }.map { "`\($0)`" }
            let cells = [
                "`\(service.name)`", link(service), needs.joined(separator: ", "), offline(service),
                departures.joined(separator: ", "),
            ]
            text += "| " + cells.joined(separator: " | ") + " |\n"
        }
        text += "\n## Not supported: \(all.count - supported.count)\n\n| service | name | why |\n|---|---|---|\n"
        for service in all {
            guard let reason = service.unsupportedReason else { continue }
            text += "| `\(service.name)` | \(link(service)) | \(reason) |\n"
        }
        return text
    }

    private static func link(_ service: BuiltInService) -> String {
        service.facts["documentation"]?.string.map { "[\(service.title)](\($0))" } ?? service.title
    }

    private static func offline(_ service: BuiltInService) -> String {
        guard let offline = service.facts["offline"]?.object else { return "unknown" }
        if offline["never"] != nil { return "no" }
        let asked = (offline["scopes"]?.array ?? []).compactMap(\.string) + (offline["parameters"]?.object?.keys ?? [])
        return asked.isEmpty ? "yes" : "by " + asked.map { "`\($0)`" }.joined(separator: ", ")
    }
}
