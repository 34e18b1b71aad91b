#if Server
import FileSelector
public import Handshake
public import Hummingbird
import Logging
import OAuth
import Sequencing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The server side of `<file-selector>`.
///
/// It serves the component, and the user's list of files without the user's token. Add them beside ``SignInRoutes``, which sign the user in:
///
/// ```swift
/// let files = FileSelectorRoutes<BasicRequestContext>(handshake, at: address, user: user)
/// files.add(to: router.group("genes"))
/// ```
///
/// A page needs two lines:
///
/// ```html
/// <script type="module" src="/genes/file-selector.js"></script>
/// <file-selector src="/genes/files?all=true" sign-in-href="/connect/sequencing/start" modal></file-selector>
/// ```
///
/// | route | does |
/// |---|---|
/// | `GET file-selector.js` | the component |
/// | `GET files?all=true` | the user's files, with the flags of the service: `all`, `sample`, `uploaded`, `shared`, `fromApps`, `allWithAltruist` |
///
/// The access token stays on the server: a page gets the list alone, and only that of its session's user. The answer is 401
/// while the user has no usable account at Sequencing.com: the component then offers to sign in. What the user chooses is an
/// identifier from a browser. Use it only with the user's own account, whose files the service checks.
public struct FileSelectorRoutes<Context: RequestContext>: Sendable {
    private let handshake: Handshake
    private let service: String
    private let pages: OwnPages<Context>
    private let script = ServedScript(FileSelectorScript.javaScript)
    private let limit: RateLimit
    private let time: TimeSource
    private let log: Logger

    /// Creates the routes.
    ///
    /// - Parameters:
    ///   - handshake: the clients, as for ``SignInRoutes``; one of them is of Sequencing.com.
    ///   - address: the public URL of the routes.
    ///   - environment: clock and log; its limit also bounds how often a user may load the list.
    ///   - service: the name of the service of Sequencing.com among the clients.
    ///   - user: the user of a request, by the app's own session; nil when no user is signed in.
    public init(
        _ handshake: Handshake, at address: PublicAddress, environment: SignInEnvironment = SignInEnvironment(),
        service: String = Service.sequencing.name,
        user: @escaping @Sendable (Request, Context) async throws -> String?
    ) {
        self.handshake = handshake
        self.service = service
        pages = OwnPages(at: address, what: "a list of files", log: environment.log, user: user)
        limit = RateLimit(environment.limit)
        time = environment.time
        log = environment.log
    }

    /// Adds the routes to a router, or to the group whose path is that of the address.
    public func add(to router: some RouterMethods<Context>) {
        router.get("file-selector.js") { request, _ in script.response(to: request) }
        router.get("files") { request, context in
            await pages.answering(request, context) { user in try await files(of: user, request) }
        }
    }

    private func files(of user: String, _ request: Request) async throws -> Response {
        try limit.check(user, now: time.now())
        let subset = Self.subset(request)
        guard !subset.isEmpty else {
            throw RequestRefusal(.badRequest, "invalid_parameters", "No flag is true; all=true lists every file")
        }
        do {
            guard let account = try await handshake.account(user, of: service) else {
                throw RequestRefusal.sequencingSignInNeeded
            }
            let list = try await Sequencing(account, clock: time.clock).fileList(subset)
            // The page counts what cannot be read, as in an answer of the service.
            let unreadable = list.unreadable.map { _ in JSONValue.null }
            let answer = JSONValue.array(list.files.map { .object($0.members) } + unreadable)
            return .json(Data(answer.json.utf8))
        } catch let error as SequencingError {
            throw RequestRefusal(error, log: log)
        }
    }

    private static func subset(_ request: Request) -> FileSubset {
        let flags: [(Substring, FileSubset)] = [
            ("all", .all), ("sample", .sample), ("uploaded", .uploaded), ("shared", .shared), ("fromApps", .fromApps),
            ("allWithAltruist", .altruist),
        ]
        let query = request.uri.queryParameters
        return flags.reduce(into: FileSubset()) { if query[$1.0] == "true" { $0.insert($1.1) } }
    }
}

extension RequestRefusal {
    fileprivate static let sequencingSignInNeeded = RequestRefusal(
        .unauthorized, "sign_in_required", "Sign in to Sequencing.com again", challenge: "Session")

    /// What a page learns of an error of Sequencing.com. The service's own texts stay here.
    init(_ error: SequencingError, log: Logger) {
        switch FileProblem(error) {
        case .signInRequired: self = .sequencingSignInNeeded
        case .tooManyRequests:
            self.init(.tooManyRequests, "too_many", "Sequencing.com asks to wait", retryAfter: 30)
        case .app:
            log.error("Sequencing.com could not be used", metadata: ["reason": "\(error.code)"])
            self = .busy
        case .unreachable, .status, .answer:
            log.warning("Sequencing.com did not answer", metadata: ["reason": "\(error.code)"])
            self.init(.badGateway, "unreachable", "Sequencing.com cannot be used right now", retryAfter: 5)
        }
    }
}
#endif
