public import HTTPTypes
public import Handshake
public import OAuth

/// An app's server that has its users' accounts.
///
/// It has the `SignInRoutes` and `ConnectedAccountsRoutes` of `HandshakeServer`.
/// Tokens stay on the server. The app sends its own session with each request, and the browser the session that it has there.
public struct AccountsServer: Sendable {
    /// The URL of the routes, without a slash at its end.
    private let base: EndpointURL
    private let redirect: RedirectURI
    private let transport: any Transport
    private let fields: @Sendable () async throws -> HTTPFields
    private let page: (@Sendable (_ start: String) async throws -> String)?

    /// The maximum length of an answer in bytes.
    static let maximumAnswerLength = 256 << 10
    /// The maximum number of accounts that are read of a list.
    static let maximumCount = 100

    /// Describes a server. Nothing is sent.
    ///
    /// - Parameters:
    ///   - address: the public URL of the routes, as the server has it.
    ///   - redirect: how the browser comes back to the app, a private scheme such as `com.example.app:/accounts` or a claimed
    ///     `https` address. It is the `app` of the server's `ConnectedAccountsRoutes`.
    ///   - security: whether plain `http` is accepted on this machine, for tests.
    ///   - transport: how requests reach the network.
    ///   - page: the page that the browser opens to connect, at the same origin. It is given the address of the start route. An app
    ///     whose session the browser does not share asks its server for a single-use address here, which begins a session there
    ///     and redirects to the start route. The start route then asks the user first, because an attacker can send such an
    ///     address to another user. Nil opens the start route itself, with a ticket, so that the user is not asked.
    ///   - fields: the fields of the user's session at the server, such as `Authorization`.
    ///     Throw ``ConnectedAccountsError/unavailable`` when the session cannot be read now; any other error means that
    ///     the user is logged out.
    /// - Throws: ``ConnectedAccountsError/configuration(member:problem:)``.
    public init(
        at address: String, redirect: String, security: TransportSecurity = .httpsOnly,
        transport: any Transport = .platform,
        page: (@Sendable (_ start: String) async throws -> String)? = nil,
        fields: @escaping @Sendable () async throws -> HTTPFields
    ) throws(ConnectedAccountsError) {
        do {
            base = try EndpointURL(
                String(address.reversed().drop { $0 == "/" }.reversed()), security: security, member: "address")
            self.redirect = try RedirectURI(redirect)
        } catch OAuthError.configuration(let member, let problem) {
            throw .configuration(member: member, problem: problem)
        } catch {
            throw .configuration(member: "address", problem: "it cannot be used")
        }
        guard base.query == nil else { throw .configuration(member: "address", problem: "it must not have a query") }
        guard [.privateScheme, .claimed].contains(self.redirect.kind), !redirect.contains("?") else {
            throw .configuration(
                member: "redirect",
                problem: "it must be a private scheme or an https address, without a query, that opens the app")
        }
        self.transport = transport
        self.page = page
        self.fields = fields
    }

    private var path: String { base.path == "/" ? "" : base.path }
}

extension AccountsServer: AccountSource {
    func accounts() async throws -> [ListedAccount] {
        guard let elements = try await answer("/connected-accounts").body?.object?["accounts"]?.array else {
            throw ConnectedAccountsError.unreadable
        }
        var seen: Set<String> = []
        let listed = elements.prefix(Self.maximumCount).compactMap { Self.listed($0) }
            .filter { seen.insert($0.account.service).inserted }
        // A server that offers no service has no such routes: it is another one, or of another version.
        guard !listed.isEmpty else { throw ConnectedAccountsError.unreadable }
        return listed
    }

    func named(_ account: ConnectedAccount) async -> ListedAccount? {
        guard let body = try? await answer("/connected-accounts/\(account.service)").body,
            let listed = Self.listed(body),
            listed.account.service == account.service
        else { return nil }
        return listed
    }

    func connect(_ service: String, through browser: some Browser) async -> ConnectedAccountsModel.Outcome? {
        do {
            guard Self.isName(service) else { return .connectFailed }
            let back = PercentEncoding.query("\(path)/connected-accounts-return")
            let start = try base.at(target: "\(path)/\(service)/start?return_to=\(back)").string
            let opened: String
            if let page {
                opened = try await page(start)
            } else {
                opened = start + (try await ticket(of: service))
            }
            let url = try EndpointURL(opened, security: base.security, member: "page")
            guard url.origin == base.origin, EndpointURL.isSafeToOpen(url.string) else { return .connectFailed }
            let shown = SignInPage(
                url: url.string, redirectURI: redirect, service: service, issuer: Issuer(originOf: base),
                host: base.origin.authority)
            guard let answer = try await browser.show(shown) else { return .connectFailed }
            return outcome(of: answer)
        } catch HandshakeError.signInAbandoned, is CancellationError {
            return .cancelled
        } catch ConnectedAccountsError.loggedOut {
            // The list says it.
            return nil
        } catch {
            return .connectFailed
        }
    }

    /// What lets the start route begin the sign-in without asking the user, as the end of its query. Empty where the server gives none.
    ///
    /// - Throws: ``ConnectedAccountsError/loggedOut``, so that no browser opens for a session that has ended; `CancellationError`.
    private func ticket(of service: String) async throws -> String {
        do {
            let answer = try await answer("/\(service)/ticket", posting: [], within: .seconds(5))
            guard let ticket = answer.body?.object?["ticket"]?.string, ticket.utf8.count <= 256 else { return "" }
            return "&ticket=" + PercentEncoding.query(ticket)
        } catch let error as CancellationError {
            throw error
        } catch ConnectedAccountsError.loggedOut {
            throw ConnectedAccountsError.loggedOut
        } catch {
            return ""
        }
    }

    /// What a redirect says. That it has come says nothing yet: whether the account is connected, the server knows.
    private func outcome(of back: String) -> ConnectedAccountsModel.Outcome? {
        let (expected, bytes) = (Array(redirect.string.utf8), Array(back.utf8.prefix(2049)))
        guard bytes.count <= 2048, bytes.starts(with: expected) else { return .connectFailed }
        let rest = bytes.dropFirst(expected.count)
        guard let mark = rest.first else { return .connected }
        guard mark == UInt8(ascii: "?") || mark == UInt8(ascii: "#") else { return .connectFailed }
        let query = rest.dropFirst().prefix { $0 != UInt8(ascii: "#") }
        for pair in query.split(separator: UInt8(ascii: "&")) where mark == UInt8(ascii: "?") {
            switch String(decoding: pair, as: UTF8.self) {
            case "connected-accounts=cancelled": return .cancelled
            case "connected-accounts=failed": return .connectFailed
            default: continue
            }
        }
        return .connected
    }

    func disconnect(_ listed: ListedAccount) async -> ConnectedAccountsModel.Outcome? {
        let content = JSONValue.object(["token": .string(listed.token?.reveal() ?? "")]).json
        do {
            let answer = try await answer(
                "/\(listed.account.service)/disconnect", posting: Array(content.utf8), within: .seconds(60))
            guard answer.status == 200, let body = answer.body?.object else { return .disconnectFailed }
            return body["not_revocable"]?.array?.isEmpty ?? true ? .disconnected : .notRevocable
        } catch is CancellationError {
            return .mayFinish
        } catch ConnectedAccountsError.loggedOut {
            // The list says it.
            return nil
        } catch ConnectedAccountsError.tooMany {
            return .tooMany
        } catch {
            return .disconnectFailed
        }
    }

    // MARK: The wire

    private struct Answer {
        let status: Int
        /// Nil for content that is no JSON.
        let body: JSONValue?
    }

    /// Sends a request to a route, and reads its answer.
    ///
    /// - Throws: ``ConnectedAccountsError`` for what every route may answer; for a read, for each status but 200.
    private func answer(
        _ route: String, posting content: [UInt8]? = nil, within timeout: Duration = .seconds(20)
    ) async throws -> Answer {
        var headers: HTTPFields
        do {
            headers = try await fields()
        } catch let error as CancellationError {
            throw error
        } catch let error as ConnectedAccountsError {
            throw error
        } catch {
            // Without a session the server would say the same.
            throw ConnectedAccountsError.loggedOut
        }
        headers[.accept] = "application/json"
        if content != nil { headers[.contentType] = "application/json" }
        let message: ResponseMessage
        do {
            let endpoint = try base.at(target: path + route)
            message = try await transport.send(
                RequestMessage(
                    content == nil ? .get : .post, endpoint, headers: headers,
                    content: content.map { .bytes($0) } ?? .none),
                limits: TransferLimits(maximumContentLength: Self.maximumAnswerLength, timeout: timeout))
        } catch let error as CancellationError {
            throw error
        } catch {
            throw ConnectedAccountsError.unavailable
        }
        switch message.head.status.code {
        case 401: throw ConnectedAccountsError.loggedOut
        case 429: throw ConnectedAccountsError.tooMany
        case 500... where content == nil: throw ConnectedAccountsError.unavailable
        case let status where status != 200 && content == nil: throw ConnectedAccountsError.unreadable
        default: break
        }
        return Answer(status: message.head.status.code, body: try? JSONValue(parsing: message.content))
    }

    /// An account as the server described it; nil for one that cannot be read.
    private static func listed(_ value: JSONValue) -> ListedAccount? {
        guard let members = value.object, let service = members["service"]?.string, isName(service) else { return nil }
        let token = members["token"]?.string.flatMap { $0.utf8.count <= 1024 ? Secret($0) : nil }
        return ListedAccount(
            account: ConnectedAccount(
                service: service, displayName: members["name"]?.string ?? service,
                // A state that is not known here is one in which the app cannot use the account.
                state: members["state"]?.string.flatMap(ConnectedAccount.State.init) ?? .signInRequired,
                userName: members["user"]?.string, isNameAvailable: members["is_name_available"]?.bool ?? false,
                // Far beyond any date, formatting fails.
                lastUse: members["last_use"]?.integer.flatMap { $0.magnitude <= 253_402_300_799 ? Double($0) : nil }),
            token: token)
    }

    /// Whether a text is the name of a service, which is a part of paths.
    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
            }
    }
}
