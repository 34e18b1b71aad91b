import Foundation
import HTTPTypes
import Handshake
import HandshakeServer
import Hummingbird
import IFTTTConnect
import Logging
import OAuth
import Sandbox

extension Benchmark {
    static let routes = Benchmark(
        name: "routes", summary: "HandshakeServer's routes asked by wrk, beside a route that only says a word",
        run: { options in try await ServerRoutes.run(options) })
}

/// Asks routes of a server in a process of its own, each in turn with a plain one, and holds streams of another one open.
enum ServerRoutes {
    private static let connection = "aB3dE5fG"
    private static let client = "benchmark"
    private static let rounds = 5
    /// How many streams are held open.
    private static let streams = [1_000, 10_000]
    /// How many of them are opened concurrently: as many connections as wrk has.
    private static let batch = 32

    // MARK: The server

    private struct User: Sendable {
        static let header = HTTPField.Name("X-User")

        /// As an app finds it by the cookie of its own session.
        static func of(_ request: Request) -> String? { header.flatMap { request.headers[$0] } }
    }

    /// The part of the child: prints its port, and answers until it is killed.
    static func playChild() async throws {
        let sandbox = try await Sandbox.start()
        let router = Router()
        router.get("plain") { _, _ in "here" }
        let origin = "http://127.0.0.1:8080"
        let vault = MemoryVault()
        var log = Logger(label: "benchmark")
        log.logLevel = .critical
        let app = try Handshake(
            Client(
                service: .named(.github), id: client,
                redirect: .uri(RedirectURI("\(origin)/accounts/github/callback"))), vault: vault)
        var environment = SignInEnvironment(log: log)
        environment.limit = try Rate(burst: 1_000_000_000, interval: .milliseconds(1))
        let address = try PublicAddress("\(origin)/accounts")
        try SignInRoutes<BasicRequestContext>(app, at: address, environment: environment) { request, _ in
            User.of(request)
        }.add(to: router.group("accounts"))
        try button(sandbox, origin, vault, log).add(to: router.group("connect"))
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                FileHandle.standardOutput.write(Data("\(channel.localAddress?.port ?? 0)\n".utf8))
            }, logger: log)
        try await application.run()
    }

    private static func button(
        _ sandbox: Sandbox, _ origin: String, _ vault: any Vault, _ log: Logger
    ) throws -> ConnectButtonRoutes<BasicRequestContext> {
        guard let partner = sandbox.ifttt.connect?.partners.first else { throw Failure("the sandbox has no IFTTT") }
        let ifttt = Service.ifttt.at(try EndpointURL(sandbox.ifttt.origin, security: .allowingInsecureLoopback))
        var settings = try ConnectButtonSettings(
            at: PublicAddress("\(origin)/connect"), offering: [ConnectButtonOffer(ConnectionID(connection))]
        ) { _ in .redirectOrPartnerServer { nil } }
        settings.streams.maximumCount = 20_000
        settings.streams.lifetime = .seconds(3_600)
        settings.streams.restingLifetime = .seconds(3_600)
        settings.freshness = .seconds(3_600)
        let client = Client(service: ifttt, id: partner.id, redirect: .uri(try RedirectURI(settings.callbackURL)))
        return try ConnectButtonRoutes(settings, accounts: try Handshake(client, vault: vault), log: log) {
            request, _ in try User.of(request).map { try ConnectButtonUser(id: $0) }
        }
    }

    // MARK: Asking

    private struct Route {
        let name: String
        let path: String
        let status: Int
    }

    private static let asked = [
        Route(name: "plain", path: "/plain", status: 200),
        Route(name: "start of a sign-in", path: "/accounts/github/start?return_to=/", status: 303),
        Route(name: "callback of no attempt", path: "/accounts/github/callback?code=c&state=s", status: 400),
        Route(name: "state of a button", path: "/connect/\(connection)", status: 200),
    ]

    static func run(_ options: Options) async throws -> [Figure] {
        var figures: [Figure] = []
        if let wrk = ["/usr/bin/wrk", "/usr/local/bin/wrk"].first(where: FileManager.default.isExecutableFile) {
            figures = try await withServer { _, port in try await rates(wrk, port) }
        } else {
            note("wrk is not installed (Debian: wrk); the rates of routes are left out")
        }
        // In a process that has answered nothing: memory that requests have used and freed would hide what streams take.
        return figures + (try await withServer { id, port in try await held(port, by: id) })
    }

    /// Runs a body with a new server, given its process and port.
    private static func withServer(_ body: (pid_t, UInt16) async throws -> [Figure]) async throws -> [Figure] {
        let server = try ChildPart.serveRoutes.start()
        defer {
            server.kill()
            _ = server.wait()
        }
        guard let port = server.readLine().flatMap({ UInt16($0) }), port > 0 else {
            throw Failure("the server did not start")
        }
        return try await body(server.id, port)
    }

    /// Asks each route in turn.
    private static func rates(_ wrk: String, _ port: UInt16) async throws -> [Figure] {
        for route in asked {
            let status = try Connection(to: port, route.path, user: "1").status()
            guard status == route.status else { throw Failure("\(route.path) answered \(status)") }
        }
        var rates = [[Double]](repeating: [], count: asked.count)
        for _ in 0..<rounds {
            for (index, route) in asked.enumerated() {
                rates[index].append(try await blocking { try ask(wrk, port, route.path) })
            }
        }
        let plain = rates[0]
        var figures = zip(asked, rates).map { Figure($0.name, "a second", samples: $1) }
        figures += zip(asked, rates).dropFirst().map { route, rates in
            Figure("\(route.name), by the plain one", "%", samples: zip(rates, plain).map { $0 / $1 * 100 })
        }
        return figures
    }

    /// Runs wrk once, and returns the requests a second.
    private static func ask(_ wrk: String, _ port: UInt16, _ path: String) throws -> Double {
        let child = try ChildProcess(
            wrk,
            [
                "-t", "1", "-c", "32", "-d", "3", "-H", "X-User: 1", "-H", "Sec-Fetch-Site: same-origin",
                "http://127.0.0.1:\(port)\(path)",
            ])
        let lines = child.readLines()
        guard child.wait().status == 0,
            let line = lines.first(where: { $0.hasPrefix("Requests/sec:") }),
            let rate = Double(line.split(separator: " ").last ?? "")
        else { throw Failure("wrk printed no rate: \(lines)") }
        return rate
    }

    /// Opens streams of changes, each of another user, and looks at the server when all have their first event and have rested.
    private static func held(_ port: UInt16, by id: pid_t) async throws -> [Figure] {
        var figures: [Figure] = []
        var open: [Connection] = []
        func add(_ count: Int) throws {
            let more = try (open.count..<open.count + count).map { number in
                try Connection(to: port, "/connect/\(connection)/changes", user: "s\(number)")
            }
            for stream in more {
                guard try stream.status() == 200 else { throw Failure("a stream was refused") }
            }
            open += more
        }
        // What the server makes for its first streams belongs to none of them.
        try add(batch)
        let (before, first) = (try resident(id), open.count)
        for count in streams {
            let added = count - open.count
            let time = try await seconds { while open.count < count { try add(min(batch, count - open.count)) } }
            let rate = Double(added) / time
            figures.append(Figure("\(added) streams opened, \(batch) concurrently", "a second", samples: [rate]))
            // Their first 15 s they look more often.
            try await Task.sleep(for: .seconds(20))
            let start = try processorTime(id)
            try await Task.sleep(for: .seconds(10))
            let busy = (try processorTime(id) - start) / 10 * 100
            let bytes = Double(try resident(id) - before) / Double(count - first) / 1_000
            figures.append(Figure("\(count) open streams, resting: resident for each", "kB", samples: [bytes]))
            figures.append(Figure("\(count) open streams, resting: of a core", "%", samples: [busy]))
        }
        return figures
    }

    /// What the process has resident, in bytes.
    private static func resident(_ id: pid_t) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let line, let number = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) }) else {
            throw Failure("the memory of the server is not known")
        }
        return number * 1024
    }

    /// The processor time of the process, in seconds.
    private static func processorTime(_ id: pid_t) throws -> Double {
        let text = try String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
        let words = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard words.count > 12, let user = Double(words[11]), let system = Double(words[12]) else {
            throw Failure("the processor time of the server is not known")
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}

/// A connection that sends one request and reads the status of its answer.
private final class Connection {
    private let socket: Int32

    init(to port: UInt16, _ path: String, user: String) throws {
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw Failure("no more sockets: raise the limit of open files (ulimit -n)") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failure("the server takes no connection") }
        let fields = ["Host: 127.0.0.1:\(port)", "X-User: \(user)", "Sec-Fetch-Site: same-origin"]
        let request = Array("GET \(path) HTTP/1.1\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n".utf8)
        guard send(socket, request, request.count, 0) == request.count else { throw Failure("no request was sent") }
    }

    deinit { close(socket) }

    func status() throws -> Int {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(socket, &buffer, buffer.count, 0)
        let words = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
        guard words.count > 1, let status = Int(words[1]) else { throw Failure("no answer came") }
        return status
    }
}
