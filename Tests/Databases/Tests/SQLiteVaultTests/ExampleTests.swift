import Foundation
import TestFixtures
import Testing

#if os(Linux) || os(macOS)
/// `Examples/ConnectedAccounts` as a process, with the vault that it was built for: files in the build of the whole package, SQLite after
/// `swift build --traits SQLite,Everything --product ConnectedAccounts`. `CONNECTED_ACCOUNTS_BIN` names another program.
@Suite("The example of connected accounts", .enabled(if: Example.isBuilt, "swift build has not made ConnectedAccounts"))
struct ExampleTests {
    @Test("accounts in its folder are found after a restart")
    func restarted() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/kept"
        let first = try Example(folder: path)
        let user = try await first.logIn()
        #expect(try await user.state() == "absent")
        try await user.connect()
        #expect(try await user.state() == "signed_in")
        try first.stop()
        #expect(FileManager.default.fileExists(atPath: "\(path)/accounts.sqlite") == (first.facts.vault == "sqlite"))

        // The services are at the same addresses as before.
        let second = try Example(folder: path, sandboxPort: first.sandboxPort)
        let again = try await second.logIn()
        #expect(try await again.state() == "signed_in")
        let stayed = try second.returning(user)
        #expect(try await stayed.state() == "signed_in", "a restart ends no log-in")
        // Another user of the app has none.
        #expect(try await second.logIn("grace").state() == "absent")
        try second.stop()
    }

    @Test("without a folder nothing stays")
    func temporary() async throws {
        // Other tests start the example too.
        let place = try TemporaryFolder()
        let example = try Example(folder: nil, temporary: place.path)
        #expect(place.names().count == 1 && place.names()[0].hasPrefix("connected-accounts-"))
        try example.stop()
        #expect(place.names() == [])
    }
}

/// The example as a process.
private final class Example {
    struct Facts: Decodable {
        let origin: String
        let sandbox: String
        let vault: String
    }

    private static var program: String {
        let named = ProcessInfo.processInfo.environment["CONNECTED_ACCOUNTS_BIN"]
        let package = URL(filePath: #filePath).appending(path: "../../../../../.build/debug/ConnectedAccounts")
        return named ?? package.standardizedFileURL.path
    }

    static var isBuilt: Bool { FileManager.default.isExecutableFile(atPath: program) }

    let facts: Facts
    let sandboxPort: Int
    private let process = Process()

    /// Starts it; without a port of the sandbox, at ports that are free. What it makes for itself alone is in `temporary`.
    init(folder: String?, temporary: String = NSTemporaryDirectory(), sandboxPort: Int? = nil) throws {
        // The services listen on this port and the next ones: one range of many is free.
        let port = sandboxPort ?? Int.random(in: 2_000...3_000) * 10
        self.sandboxPort = port
        let output = Pipe()
        process.executableURL = URL(filePath: Self.program)
        process.arguments =
            ["--print-json", "--sandbox-port", "\(port)"] + (folder.map { ["--folder", $0] } ?? [])
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": temporary]) { $1 }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var line: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != 10 { line.append(byte) }
        facts = try JSONDecoder().decode(Facts.self, from: Data(line))
    }

    /// Ends it as Ctrl-C does.
    func stop() throws {
        process.interrupt()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw WireClient.Failure(description: "it ended with status \(process.terminationStatus)")
        }
    }

    func logIn(_ name: String = "ada") async throws -> Visit {
        let wire = try WireClient(origin: facts.origin)
        let answer = try await wire.send(
            "POST", "/log-in",
            headers: ["Origin": facts.origin, "Content-Type": "application/x-www-form-urlencoded"],
            body: "name=\(name)&password=analytical-engine")
        return Visit(facts: facts, wire: wire, cookies: Visit.cookies(answer))
    }

    /// A user who logged in before this process was started.
    func returning(_ user: Visit) throws -> Visit {
        Visit(facts: facts, wire: try WireClient(origin: facts.origin), cookies: user.cookies)
    }

    /// A user of the app, logged in.
    struct Visit {
        let facts: Facts
        let wire: WireClient
        let cookies: [String]

        static func cookies(_ answer: WireClient.Answer) -> [String] {
            answer.fields.filter { $0.name.lowercased() == "set-cookie" }.map { String($0.value.prefix { $0 != ";" }) }
        }

        /// The state of the account at the third service, from the vault alone.
        func state() async throws -> String? {
            struct List: Decodable {
                struct Account: Decodable {
                    let service: String
                    let state: String
                }
                let accounts: [Account]
            }
            let answer = try await wire.send(
                "GET", "/connect/connected-accounts", headers: ["Cookie": cookies.joined(separator: "; ")])
            let list = try JSONDecoder().decode(List.self, from: Data(answer.body))
            return list.accounts.first { $0.service == "standard" }?.state
        }

        func connect() async throws {
            let start = try await wire.send(
                "GET", "/connect/standard/start?return_to=/",
                headers: ["Cookie": cookies.joined(separator: "; "), "Sec-Fetch-Site": "same-origin"])
            let service = try await WebVisitor(origin: facts.sandbox, at: try #require(start["Location"]))
            try await service.submit([("email", "ada@example.test"), ("password", "standards-matter")])
            let allow = try #require(service.page.text.firstMatch(of: /name="op" value="([^"]+)"/)).1
            try await service.submit([("op", String(allow))])
            let back = try #require(service.left)
            let all = cookies + Self.cookies(start)
            let answer = try await wire.send(
                "GET", String(back.dropFirst(facts.origin.count)), headers: ["Cookie": all.joined(separator: "; ")])
            #expect(answer.status == 303)
        }
    }
}
#endif
