import Crypto
import HTTPTypes
public import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where a keeper reports sessions that have ended, as a Standard Webhook.
///
/// Each report is a POST with the JSON object
/// `{"type":"account.ended","timestamp":"…","data":{"account","service","issuer","client_id","reason"}}`. Any status from 200 to 299 confirms it,
/// and that is stored with the account. Every keeper reports each ending that it finds, of a session in its queue, and all reports of one ending
/// have the same `webhook-id`: drop those that you have. A new webhook gets a report of every session that had ended before and is still stored.
/// With a secret, `webhook-signature` has the HMAC-SHA256 of id, time and content. No redirect is followed.
///
/// ### Reports that are not confirmed
///
/// * A webhook that cannot be reached, does not answer within 10 s, or answers with status 429, or 500 and above, gets the next report after a
///   pause. The pause doubles from 2 seconds with each such report in a row, up to a minute. These reports stay queued until they are confirmed.
/// * After any other answer a report is sent up to five times, with pauses that double likewise while no other report waits; one that a listing
///   has found is sent once.
/// * A report that is not confirmed goes behind the others, and those of a listing go behind an ending that a keeper meets. So reports that were
///   sent before delay a new one by 70 s at most, however many they are.
/// * A report that is given up, after five answers, when the keeper ends, or while 10,000 others wait, is sent when a keeper lists the vault next.
///   So neither a receiver that is away nor a keeper that is killed loses an ending, unless the user signs in again before the listing.
/// * A report that waited can arrive after the user has signed in again: look at the account before you act on it.
///
/// The reports delay the end of ``Keeper/run()`` by 10 s at most; each that waits gets one attempt, if there is time. Those that are not
/// confirmed delay the end of ``Keeper/runOnce(horizon:)`` by 80 s at most, all of them together.
///
/// Source: the Standard Webhooks specification, version 1.
public struct KeeperWebhook: Sendable {
    let url: EndpointURL
    let secret: [UInt8]?

    /// Names the address, and the secret that signs.
    ///
    /// - Parameters:
    ///   - url: where reports go.
    ///   - secret: `whsec_` and 24 to 64 bytes in Base64; nil for reports without a signature.
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` for a secret in another form.
    public init(_ url: EndpointURL, secret: Secret? = nil) throws(HandshakeError) {
        self.url = url
        guard let secret else {
            self.secret = nil
            return
        }
        let text = secret.reveal()
        guard text.hasPrefix("whsec_"), let bytes = Data(base64Encoded: String(text.dropFirst(6))),
            (24...64).contains(bytes.count)
        else {
            throw .configuration(
                member: "webhook secret",
                problem: "it must be whsec_ followed by 24 to 64 bytes in Base64; make one with: "
                    + "echo whsec_$(head -c 32 /dev/urandom | base64)")
        }
        self.secret = Array(bytes)
    }
}

/// A session that has ended, as a keeper found it.
struct KeeperEnding: Sendable {
    let account: AccountID
    let reason: HandshakeError.SignInReason
    /// Counts the grants of one session.
    let generation: Int
    /// When the last grant was issued, which tells a session from the next one under the same name.
    let issuedAt: Double
    /// Whether a listing has found it, as the next one will.
    var isListed = false

    /// The same for every process that finds this ending, and another for the next session's.
    var identifier: String {
        let parts = [account.service, account.issuer, account.client, account.name] + account.resources
        let session = "\(generation) \(issuedAt.bitPattern) \(reason.rawValue)"
        let name = VaultKey(.account, parts).canonical + Array(session.utf8)
        return "msg_" + Base64URL.encode(SHA256.hash(data: name).prefix(18))
    }
}

extension AccountRecord {
    /// The ending that no webhook has taken a report of; nil where there is none to report.
    var unreportedEnding: KeeperEnding? {
        guard case .ended(let reason) = state, reason != .absent, reason != .signingOut, !isReported else { return nil }
        return KeeperEnding(
            account: id, reason: reason, generation: generation, issuedAt: grant.issuedAt, isListed: true)
    }
}

extension KeeperWebhook {
    /// The report of an ending.
    ///
    /// - Parameter time: when it is sent, in seconds since 1970.
    func request(of ending: KeeperEnding, at time: Double) throws -> RequestMessage {
        let account = ending.account
        let id = ending.identifier
        let now = Int64(time)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let content = try encoder.encode(
            Body(
                type: "account.ended", timestamp: Date(timeIntervalSince1970: Double(now)).ISO8601Format(),
                data: .init(
                    account: account.name, service: account.service, issuer: account.issuer, client: account.client,
                    reason: ending.reason.rawValue)))
        var fields: HTTPFields = [.contentType: "application/json"]
        fields.add("webhook-id", id)
        fields.add("webhook-timestamp", "\(now)")
        if let secret {
            let signed = Array("\(id).\(now).".utf8) + content
            let code = HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: secret))
            fields.add("webhook-signature", "v1," + Data(code).base64EncodedString())
        }
        return RequestMessage(.post, url, headers: fields, content: .bytes(Array(content)))
    }

    private struct Body: Encodable {
        struct Members: Encodable {
            let account: String
            let service: String
            let issuer: String
            let client: String
            let reason: String

            enum CodingKeys: String, CodingKey {
                case account, service, issuer, reason
                case client = "client_id"
            }
        }

        let type: String
        let timestamp: String
        let data: Members
    }
}

extension HTTPFields {
    fileprivate mutating func add(_ name: String, _ value: String) {
        guard let name = HTTPField.Name(name) else { return }
        self[name] = value
    }
}
