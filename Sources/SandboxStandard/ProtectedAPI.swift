#if Sandbox
import HTTPTypes
import SandboxCore

/// An API that accepts only tokens issued for it, and its metadata (RFC 9728).
struct ProtectedAPI: Sendable {
    let path: String
    let note: String
    /// The path stated in `resource` of its metadata.
    var statedPath: String
    /// A foreign `resource`; nil for its own.
    var statedResource: String?
    var hasOwnDocument = true
    /// Whether its 401 responses carry `resource_metadata` (RFC 9728, section 5.1).
    var isAnnounced = true
    /// Whether it takes only tokens that are bound to a key (RFC 9449).
    var requiresBoundTokens = false
    /// The path of the issuer that grants its tokens; empty for the origin's own.
    var issuerPrefix = ""

    static let wellKnown = "/.well-known/oauth-protected-resource"

    private init(_ path: String, _ note: String, stating statedPath: String? = nil) {
        self.path = path
        self.note = note
        self.statedPath = statedPath ?? path
    }

    private func with(_ change: (inout ProtectedAPI) -> Void) -> ProtectedAPI {
        var api = self
        change(&api)
        return api
    }

    static let all = [
        ProtectedAPI("/mcp", "an MCP server; scope api"),
        ProtectedAPI("/quiet/mcp", "an MCP server whose refusals announce nothing").with { $0.isAnnounced = false },
        ProtectedAPI("/above/mcp", "an MCP server whose document is about /above", stating: "/above"),
        ProtectedAPI("/root/mcp", "an MCP server that the document of the whole origin is about", stating: "").with {
            $0.hasOwnDocument = false
            $0.isAnnounced = false
        },
        ProtectedAPI("/bound/mcp", "an MCP server whose tokens are bound to a key (DPoP)").with {
            $0.requiresBoundTokens = true
        },
        ProtectedAPI("/tenant/mcp", "an MCP server whose tokens are tenant1's").with { $0.issuerPrefix = "/tenant1" },
        ProtectedAPI("/neighbour/mcp", "an MCP server whose issuer names another one in iss").with {
            $0.issuerPrefix = "/neighbour"
        },
        ProtectedAPI("/foreign/mcp", "a hostile API: its document is about another one").with {
            $0.statedResource = "https://other.example.test/mcp"
        },
    ]

    /// What the document of the origin itself is about.
    static let root = ProtectedAPI("", "all other paths")
    /// At the standard server's own origin, without any document.
    static let legacy = ProtectedAPI("/mcp", "").with {
        $0.hasOwnDocument = false
        $0.isAnnounced = false
    }

    /// The audience of its tokens (RFC 8707).
    func identifier(at origin: String) -> String { statedResource ?? origin + statedPath }

    func document(at origin: String, issuer: String) -> JSON {
        let document: JSON = [
            "resource": .string(identifier(at: origin)), "authorization_servers": [.string(issuer)],
            "scopes_supported": ["api"], "bearer_methods_supported": ["header"],
        ]
        guard requiresBoundTokens else { return document }
        return document.adding("dpop_bound_access_tokens_required", true)
            .adding("dpop_signing_alg_values_supported", JSON(ProofVerifier.algorithms))
    }
}

extension ProtectedAPI {
    /// Answers a request by the Model Context Protocol, or refuses its token.
    ///
    /// - Parameters:
    ///   - origin: where the API is.
    ///   - standIn: the issuer that grants its tokens.
    func answer(_ request: IncomingRequest, at origin: String, of standIn: StandardStandIn) -> Answer {
        var rule = SandboxClient.ProofRule.optional
        let answer: Answer
        do throws(BearerChallenge) {
            let access = try access(request, at: origin, of: standIn, &rule)
            answer = try ModelContext.answer(request, access)
        } catch {
            answer = refusal(error, at: origin, isBound: request.boundToken != nil).answer
        }
        return standIn.proofs.withNonce(answer, rule, as: .resource, at: standIn.server)
    }

    private func access(
        _ request: IncomingRequest, at origin: String, of standIn: StandardStandIn,
        _ rule: inout SandboxClient.ProofRule
    ) throws(BearerChallenge) -> ProtectedResources.Access {
        if request.query["access_token"] != nil { throw .tokenInQuery }
        guard let token = request.boundToken ?? request.bearerToken else { throw .tokenMissing }
        // RFC 8707 section 3: a token for another API does not count here.
        guard let access = standIn.server.liveAccess(token), standIn.certificates.admit(token, on: request),
            access.token.resources.contains(identifier(at: origin))
        else { throw .invalidToken }
        let thumbprint = standIn.proofs.thumbprint(of: token)
        guard (thumbprint != nil) == (request.boundToken != nil), thumbprint != nil || !requiresBoundTokens else {
            throw .invalidToken
        }
        guard let thumbprint else { return access }
        rule = standIn.server.client(access.grant.clientID)?.proofs ?? .optional
        do throws(ProofFailure) {
            try standIn.proofs.check(request, with: token, of: thumbprint, rule, at: standIn.server, origin: origin)
        } catch {
            throw .proof(error)
        }
        return access
    }

    private func refusal(_ challenge: BearerChallenge, at origin: String, isBound: Bool) -> BearerChallenge {
        let scheme = isBound || requiresBoundTokens ? "DPoP" : "Bearer"
        guard isAnnounced else {
            return BearerChallenge(status: challenge.status, parameters: challenge.parameters, scheme: scheme)
        }
        var parameters = challenge.parameters + [("resource_metadata", origin + Self.wellKnown + path)]
        if !parameters.contains(where: { $0.0 == "scope" }) { parameters.append(("scope", "api")) }
        return BearerChallenge(status: challenge.status, parameters: parameters, scheme: scheme)
    }
}

/// As much of the Model Context Protocol as a client needs to call a tool: JSON-RPC over HTTP, without streams or sessions.
enum ModelContext {
    private static let tools: [(name: String, scope: String, note: String)] = [
        ("whoami", "api", "The user that the token speaks for."),
        ("email", "email", "The user's e-mail address; needs the scope email."),
    ]

    static func answer(_ request: IncomingRequest, _ access: ProtectedResources.Access) throws(BearerChallenge)
        -> Answer
    {
        guard request.method == "POST" else { return .text("This server sends no streams.\n", status: 405) }
        guard let message = JSON(parsing: request.body), let method = message["method"]?.scalarText else {
            return .uncachedJSON(failure(-32_700, "No JSON-RPC message.", of: nil), status: 400)
        }
        guard let id = message["id"] else { return Answer(status: 202) }
        switch method {
        case "initialize":
            let version = message["params"]?["protocolVersion"]?.scalarText ?? "2025-11-25"
            return success(
                [
                    "protocolVersion": .string(version), "capabilities": ["tools": [:]],
                    "serverInfo": ["name": "sandbox", "version": "1"],
                ], of: id)
        case "ping": return success([:], of: id)
        case "tools/list":
            return success(
                [
                    "tools": .array(
                        tools.map {
                            [
                                "name": .string($0.name), "description": .string($0.note),
                                "inputSchema": ["type": "object"],
                            ]
                        })
                ], of: id)
        case "tools/call": return try call(message["params"]?["name"]?.scalarText, access, id)
        default: return .uncachedJSON(failure(-32_601, "There is no such method.", of: id))
        }
    }

    private static func call(
        _ name: String?, _ access: ProtectedResources.Access, _ id: JSON
    ) throws(BearerChallenge) -> Answer {
        guard let tool = tools.first(where: { $0.name == name }) else {
            return .uncachedJSON(failure(-32_602, "There is no such tool.", of: id))
        }
        guard access.token.scope.contains(tool.scope) else { throw .insufficientScope(tool.scope) }
        let user = access.grant.user
        let text = tool.name == "email" ? user?.name : user?.displayName
        return success(["content": [["type": "text", "text": .string(text ?? access.grant.clientID)]]], of: id)
    }

    private static func success(_ result: JSON, of id: JSON) -> Answer {
        .uncachedJSON(["jsonrpc": "2.0", "id": id, "result": result])
    }

    private static func failure(_ code: Int, _ message: String, of id: JSON?) -> JSON {
        ["jsonrpc": "2.0", "id": id ?? .null, "error": ["code": .number(code), "message": .string(message)]]
    }
}
#endif
