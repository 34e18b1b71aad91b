import Sandbox
import TestFixtures

/// A browser at the IFTTT stand-in.
typealias IFTTTVisitor = WebVisitor

extension WebVisitor {
    static let redirect = "gardenapp://connect_callback"

    convenience init(_ sandbox: Sandbox, at target: String) async throws {
        try await self.init(origin: sandbox.ifttt.origin, at: target)
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
}
