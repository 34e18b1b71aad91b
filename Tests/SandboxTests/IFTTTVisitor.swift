import Foundation
import Sandbox
import Testing
import WireFixtures

/// A browser at the IFTTT stand-in: its cookies, its last page, and forms submitted as the page has them.
final class IFTTTVisitor {
    static let redirect = "gardenapp://connect_callback"

    let wire: WireClient
    let origin: String
    private(set) var cookies: [String: String] = [:]
    private(set) var page: WireClient.Answer
    /// Where the last redirect led outside the stand-in.
    private(set) var left: String?
    private(set) var cookieFields: [String] = []

    init(_ sandbox: Sandbox, at target: String) async throws {
        wire = try WireClient(origin: sandbox.ifttt.origin)
        origin = sandbox.ifttt.origin
        page = try await wire.send("GET", target)
        try await follow()
    }

    /// The address of the web flow with the items that apps send.
    static func access(
        _ items: [(String, String)] = [], to id: String = "aB3dE5fG", redirect: String = redirect
    ) -> String {
        let common = [
            ("sdk_return_to", redirect), ("sdk_version", "2.8.0"), ("sdk_platform", "ios"), ("locale", "en-US"),
        ]
        let query = (common + items).map { "\(OAuthSteps.encoded($0))=\(OAuthSteps.encoded($1))" }
        return "/access/api/\(id)?" + query.joined(separator: "&")
    }

    /// The status of the page at which a fresh browser ends up.
    static func status(_ sandbox: Sandbox, at target: String) async throws -> Int {
        try await IFTTTVisitor(sandbox, at: target).page.status
    }

    var heading: String {
        let text = page.text.firstMatch(of: /<h1>(.*?)<\/h1>/).map { String($0.1) } ?? "no heading"
        return text.replacing(/<[^>]+>/, with: "")
    }

    func get(_ target: String) async throws {
        page = try await wire.send("GET", target, headers: ["Cookie": cookieField])
        try await follow()
    }

    /// Submits the first form of the page that has the hidden fields, with more fields of its own.
    func submit(_ fields: [(String, String)], token: String? = nil) async throws {
        let form = try #require(page.text.firstMatch(of: /<form method="post" action="([^"]+)">/), "\(page.text)")
        var all: [(String, String)] = []
        for match in page.text.matches(of: /<input type="hidden" name="([^"]+)" value="([^"]*)">/)
        where !all.contains(where: { $0.0 == String(match.1) }) {
            all.append((String(match.1), token ?? String(match.2)))
        }
        let body = (all + fields).map { "\(OAuthSteps.encoded($0))=\(OAuthSteps.encoded($1))" }
        page = try await wire.send(
            "POST", String(form.1).replacingOccurrences(of: "&amp;", with: "&"),
            headers: ["Cookie": cookieField, "Content-Type": "application/x-www-form-urlencoded"],
            body: body.joined(separator: "&"))
        try await follow()
    }

    func press(_ value: String) async throws {
        try await submit([("do", value)])
    }

    /// The query of the address to which the flow went back, as text.
    func outcome() throws -> String {
        try #require(left?.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) ?? left)
    }

    private var cookieField: String {
        cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
    }

    private func follow() async throws {
        for _ in 0..<10 {
            for field in page.fields where field.name.lowercased() == "set-cookie" {
                cookieFields.append(field.value)
                let pair = field.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
                if pair.count == 2 { cookies[pair[0]] = pair[1] }
            }
            guard (300..<400).contains(page.status), let location = page["Location"] else { return }
            let target = location.hasPrefix(origin) ? String(location.dropFirst(origin.count)) : location
            guard target.hasPrefix("/") else {
                left = location
                return
            }
            page = try await wire.send("GET", target, headers: ["Cookie": cookieField])
        }
    }
}
