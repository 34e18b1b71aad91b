import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An account record as bytes, for the inside of a sealed vault record and nowhere else: it holds tokens in clear.
struct StoredAccount: Codable {
    var version = 1
    let id: AccountID
    let accessToken: String
    let expiresAt: Double?
    let issuedAt: Double
    let refreshToken: String?
    let scopes: [String]
    let identity: String?
    /// Absent in records from before it was stored.
    let idToken: String?
    let state: String
    let since: Double?
    let reason: HandshakeError.SignInReason?
    let remaining: [RevocationRequest.TokenKind]?
    let isClientCredentials: Bool
    /// Absent in records from before tokens could be brought.
    let isBrought: Bool?
    let generation: Int
    let server: StoredServer?
    /// Absent in records of before it was noted.
    let serverAt: Double?
    /// A version before this member leaves it out, and tries the old refresh token again.
    let unchecked: StoredGrant?
    /// Whether the access token is bound to a key, and the key. Both absent for bearer tokens, and in older records.
    let isBound: Bool?
    let dpopKey: StoredKey?
    /// The thumbprint of the certificate that the tokens are bound to. Absent for none, and in older records.
    let certificate: String?
    /// Nil when the server did not say, and in older records.
    let authorizationDetails: [AuthorizationDetail]?
    /// Absent where there are none, and in older records.
    let replaced: [String]?
    /// Nil when the server did not say, and in older records.
    let refreshTokenExpiresAt: Double?
    /// Absent until a webhook has taken the report of the session's end.
    let isReported: Bool?
}

/// A grant without its identity, which is still to be verified.
struct StoredGrant: Codable {
    let accessToken: String
    let expiresAt: Double?
    let issuedAt: Double
    let refreshToken: String?
    let scopes: [String]
    let idToken: String
    let isBound: Bool?
    let dpopKey: StoredKey?
    let certificate: String?
    let receivedAt: Double
    let authorizationDetails: [AuthorizationDetail]?
    let refreshTokenExpiresAt: Double?

    init?(_ unchecked: AccountRecord.Unchecked) {
        let grant = unchecked.grant
        guard let idToken = grant.idToken else { return nil }
        self.idToken = idToken.reveal()
        accessToken = grant.accessToken.reveal()
        expiresAt = grant.expiresAt
        issuedAt = grant.issuedAt
        refreshToken = grant.refreshToken?.reveal()
        scopes = grant.scopes
        isBound = unchecked.binding?.bindsAccessToken
        dpopKey = unchecked.binding?.key.map(StoredKey.init)
        certificate = unchecked.certificate
        receivedAt = unchecked.receivedAt
        authorizationDetails = grant.authorizationDetails
        refreshTokenExpiresAt = grant.refreshTokenExpiresAt
    }

    func unchecked(of identity: IDTokenClaims?) -> AccountRecord.Unchecked {
        let grant = Grant(
            accessToken: Secret(accessToken), expiresAt: expiresAt, issuedAt: issuedAt,
            refreshToken: refreshToken.map(Secret.init), scopes: scopes, identity: identity, idToken: Secret(idToken),
            authorizationDetails: authorizationDetails, refreshTokenExpiresAt: refreshTokenExpiresAt)
        return .init(
            grant: grant, binding: isBound.map { TokenBinding(key: dpopKey?.key, bindsAccessToken: $0) },
            certificate: certificate, receivedAt: receivedAt)
    }
}

extension AccountRecord {
    /// The record as bytes to be sealed.
    func stored() throws(HandshakeError) -> [UInt8] {
        var since: Double?
        var reason: HandshakeError.SignInReason?
        var remaining: [RevocationRequest.TokenKind]?
        let word: String
        switch state {
        case .signedIn: word = "signed_in"
        case .refreshing(let start): (word, since) = ("refreshing", start)
        case .ended(let why): (word, reason) = ("ended", why)
        case .signingOut(let tokens): (word, remaining) = ("signing_out", tokens)
        }
        return try StoredForm.encode(
            StoredAccount(
                id: id, accessToken: grant.accessToken.reveal(), expiresAt: grant.expiresAt, issuedAt: grant.issuedAt,
                refreshToken: grant.refreshToken?.reveal(), scopes: grant.scopes, identity: grant.identity?.json,
                idToken: grant.idToken?.reveal(),
                state: word, since: since, reason: reason, remaining: remaining,
                isClientCredentials: refreshMethod == .clientCredentials,
                isBrought: refreshMethod == .never ? true : nil,
                generation: generation,
                server: server.map(StoredServer.init), serverAt: serverAt,
                unchecked: unchecked.flatMap(StoredGrant.init),
                isBound: binding?.bindsAccessToken, dpopKey: binding?.key.map(StoredKey.init),
                certificate: certificate, authorizationDetails: grant.authorizationDetails,
                replaced: replaced.isEmpty ? nil : replaced.map { $0.reveal() },
                refreshTokenExpiresAt: grant.refreshTokenExpiresAt, isReported: isReported ? true : nil))
    }

    /// Reads what ``stored()`` wrote.
    ///
    /// - Throws: ``VaultError/damaged(what:reason:)`` inside ``HandshakeError/vault(_:)`` when the bytes are not such a
    ///   record, or are another account's.
    init(stored bytes: [UInt8], expected id: AccountID) throws(HandshakeError) {
        let damaged = { (reason: String) in
            HandshakeError.vault(.damaged(what: "the account \(id)", reason: reason))
        }
        let stored: StoredAccount = try StoredForm.decode(bytes, what: "the account \(id)")
        guard stored.version == 1 else { throw damaged("it was written by a newer version (format \(stored.version))") }
        guard stored.id == id else { throw damaged("it belongs to \(stored.id)") }
        guard (0..<Int.max / 2).contains(stored.generation) else {
            throw damaged("it counts \(stored.generation) grants")
        }
        let state: State
        switch stored.state {
        case "signed_in": state = .signedIn
        case "refreshing": state = .refreshing(since: stored.since ?? stored.issuedAt)
        case "ended": state = .ended(stored.reason ?? .refreshRejected)
        case "signing_out": state = .signingOut(remaining: stored.remaining ?? [])
        default: throw damaged("its state “\(quoted(stored.state, limit: 40))” is not known")
        }
        let grant: Grant
        let server: AuthorizationServerMetadata?
        do {
            grant = Grant(
                accessToken: Secret(stored.accessToken), expiresAt: stored.expiresAt, issuedAt: stored.issuedAt,
                refreshToken: stored.refreshToken.map(Secret.init), scopes: stored.scopes,
                identity: try stored.identity.map { text in
                    try IDTokenClaims(claims: JSONValue(parsing: Array(text.utf8)).object ?? [:])
                }, idToken: stored.idToken.map(Secret.init), authorizationDetails: stored.authorizationDetails,
                refreshTokenExpiresAt: stored.refreshTokenExpiresAt)
            server = try stored.server?.metadata()
        } catch {
            throw damaged("\(error)")
        }
        self.init(
            id: id, grant: grant, unchecked: stored.unchecked?.unchecked(of: grant.identity), state: state,
            refreshMethod:
                stored.isBrought == true ? .never : stored.isClientCredentials ? .clientCredentials : .refreshToken,
            generation: stored.generation, server: server, serverAt: stored.serverAt,
            binding: stored.isBound.map { TokenBinding(key: stored.dpopKey?.key, bindsAccessToken: $0) },
            certificate: stored.certificate)
        replaced = (stored.replaced ?? []).map(Secret.init)
        isReported = stored.isReported ?? false
    }
}

/// The codec of everything that goes sealed into a vault.
enum StoredForm {
    static func encode(_ value: some Encodable) throws(HandshakeError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(value))
        } catch {
            throw .vault(.unavailable("a record could not be written as JSON"))
        }
    }

    static func decode<Value: Decodable>(_ bytes: [UInt8], what: String) throws(HandshakeError) -> Value {
        if let value: Value = decodeWithoutFoundation(bytes) { return value }
        do {
            return try JSONDecoder().decode(Value.self, from: Data(bytes))
        } catch {
            // The decoder's own text may quote the record.
            throw .vault(.damaged(what: what, reason: "its content is not a record of this version"))
        }
    }

    /// The value without Foundation's decoder; nil where that one has to decide, also about damage.
    static func decodeWithoutFoundation<Value: Decodable>(_ bytes: [UInt8]) -> Value? {
        guard canUseOwnReader(bytes), let value = try? JSONValue(parsing: bytes) else { return nil }
        return try? Value(from: StoredValueDecoder(value: value))
    }

    /// Whether both readers see the same texts: the package's own one inserts a character among 30 combining marks, which an escape may
    /// be too.
    private static func canUseOwnReader(_ bytes: [UInt8]) -> Bool {
        !bytes.mayHoldManyMarks && !bytes.contains(#"\u"#.utf8)
    }
}
