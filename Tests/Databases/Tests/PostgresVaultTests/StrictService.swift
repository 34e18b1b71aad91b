import Foundation
import HTTPTypes
import Handshake
import OAuth
import TestFixtures

@testable import PostgresVault

/// A service whose refresh tokens serve once, and whose state is a row beside the vault: several processes share it. It is a transport.
///
/// A refresh token that comes again ends the session. An access token serves until the next refresh, for an hour at most.
struct StrictService: Transport {
    static let life = 3_600.0

    private let pool: PostgresPool
    private let table: String
    var now: @Sendable () -> Double = { Date().timeIntervalSince1970 }
    /// What happens when the service has processed a refresh, and before its answer comes.
    var isProcessed: @Sendable () -> Void = {}

    /// What happens before the service processes a refresh.
    var isSent: @Sendable () -> Void = {}
    /// Whether the connection is cut when the service has processed a refresh.
    var isCut: @Sendable () -> Bool = { false }
    /// Whether the app sends a refresh token again whose answer was lost.
    var isRetried = true
    /// What stands at the end of each access token.
    var padding = ""

    init(_ place: PostgresPlace) throws {
        pool = PostgresPool(try PostgresAddress(place.connection), limit: 2)
        table = "\"\(place.schema)\".service"
    }

    /// Makes the service's row, and an account that has signed in there.
    ///
    /// - Parameter isForgiving: whether the last refresh token may come again, and has the same answer then.
    func make(isForgiving: Bool = false, accountIn vault: any Vault) async throws {
        try await run(
            "CREATE TABLE \(table) (current bigint, sends bigint, is_over boolean, is_forgiving boolean, issued float8)"
        )
        try await run("INSERT INTO \(table) VALUES (0, 0, false, \(isForgiving), \(now()))")
        try await signIn(vault)
    }

    /// Makes an account with what the service has handed out last.
    @discardableResult
    func signIn(_ vault: any Vault) async throws -> Account {
        let current = try await run("SELECT current FROM \(table)")[0].int(0)
        return try await app(vault).adopt(
            Grant(
                accessToken: Secret("access-\(current)"), expiresAt: now() + Self.life, issuedAt: now(),
                refreshToken: Secret("\(current)"), scopes: []))
    }

    /// - Parameter time: the clock of the app's machine.
    func app(_ vault: any Vault, time: TimeSource = .system) throws -> Handshake {
        let metadata = AuthorizationServerMetadata(
            issuer: try Issuer("https://strict.example"),
            tokenEndpoint: try EndpointURL("https://strict.example/token"))
        let service = try Service(
            name: "strict", authorizationServer: .described(metadata),
            apiRoot: try EndpointURL("https://strict.example/api/"), defaultScopes: [])
        var client = Client(service: service, id: "app", redirect: .uri(try RedirectURI("com.example.app:/callback")))
        client.options.retriesLostRefreshes = isRetried
        return try Handshake(client, vault: vault, transport: self, time: time)
    }

    /// How often a refresh token came.
    func sends() async throws -> Int64 { try await run("SELECT sends FROM \(table)")[0].int(0) }

    func send(_ request: RequestMessage, limits: TransferLimits) async throws -> ResponseMessage {
        guard request.head.path == "/token" else {
            let token = request.head.headerFields[.authorization] ?? ""
            let row = try await run("SELECT current, issued > \(now() - Self.life) AND NOT is_over FROM \(table)")[0]
            let isGood = try row.bool(1) && token == "Bearer access-\(row.int(0))\(padding)"
            return ResponseMessage(head: HTTPResponse(status: isGood ? .ok : .unauthorized))
        }
        guard case .bytes(let bytes) = request.content else { return Self.answer(400, ["error": "invalid_request"]) }
        let form = String(decoding: bytes, as: UTF8.self)
        let token = form.split(separator: "&").first { $0.hasPrefix("refresh_token=") }?.dropFirst(14) ?? ""
        let number = Int64(token) ?? -1
        isSent()
        let row = try await run(
            """
            UPDATE \(table) SET sends = sends + 1, is_over = is_over OR NOT (current = \(number)
                OR is_forgiving AND current = \(number + 1)),
              current = CASE WHEN current = \(number) THEN current + 1 ELSE current END,
              issued = CASE WHEN current = \(number) THEN \(now()) ELSE issued END RETURNING current, is_over
            """)[0]
        isProcessed()
        if isCut() { throw TransportError.cut(host: "strict.example", reason: "by the test") }
        guard try !row.bool(1) else { return Self.answer(400, ["error": "invalid_grant"]) }
        let next = try row.int(0)
        return Self.answer(
            200,
            [
                "access_token": "access-\(next)\(padding)", "token_type": "Bearer", "expires_in": Int(Self.life),
                "refresh_token": "\(next)",
            ])
    }

    @discardableResult
    private func run(_ sql: String) async throws -> [PostgresRow] {
        try await pool.run(PostgresRequest(statements: [PostgresStatement(sql)])).first ?? []
    }

    private static func answer(_ status: Int, _ object: [String: Any]) -> ResponseMessage {
        let data = (try? JSONSerialization.data(withJSONObject: object)) ?? Data()
        return ResponseMessage(
            head: HTTPResponse(status: .init(code: status), headerFields: [.contentType: "application/json"]),
            content: Array(data))
    }
}
