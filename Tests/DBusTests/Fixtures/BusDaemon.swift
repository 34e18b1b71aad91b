import DBus
import Foundation
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A program that a test starts when the machine has it.
enum Tool: String {
    case busDaemon = "dbus-daemon"
    case gdbus
    case busctl

    /// Where the program is, or nil.
    var path: String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + ["/usr/bin", "/bin"]
        return folders.map { "\($0)/\(rawValue)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Whether these programs are all there.
    static func areInstalled(_ tools: Tool...) -> Bool {
        tools.allSatisfy { $0.path != nil }
    }
}

/// A message bus of its own, which ends with its test.
final class BusDaemon: Sendable {
    let addressText: String
    private let folder: String
    private let process: Process
    private let ended: AsyncStream<Void>

    init() async throws {
        let folder = NSTemporaryDirectory() + "dbus-\(UInt64.random(in: 0 ..< .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        self.folder = folder
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Tool.busDaemon.path))
        process.arguments = [
            "--session", "--nofork", "--nopidfile", "--print-address=1", "--address=unix:path=\(folder)/bus",
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let (ended, ending) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in ending.finish() }
        let lines = output.lines
        try process.run()
        self.process = process
        self.ended = ended
        var iterator = lines.makeAsyncIterator()
        addressText = try #require(await iterator.next(), "dbus-daemon printed no address")
    }

    deinit {
        end()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// A child inherits the signals that the test's threads block: only this one is certain.
    private func end() {
        kill(process.processIdentifier, SIGKILL)
    }

    /// Ends the bus.
    func stop() async {
        end()
        for await _ in ended {}
    }

    func connect() async throws -> Connection {
        try await Connection.open(Address.session(environment: ["DBUS_SESSION_BUS_ADDRESS": addressText]))
    }

    /// Runs a foreign client on this bus and returns its output; a client that fails is an issue.
    func run(_ tool: Tool, _ arguments: [String]) async throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(tool.path))
        process.arguments = arguments
        process.environment = ["DBUS_SESSION_BUS_ADDRESS": addressText, "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        let lines = output.lines
        let (ended, ending) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { process in
            ending.yield(process.terminationStatus)
            ending.finish()
        }
        try process.run()
        var text = ""
        for await line in lines { text += line + "\n" }
        for await status in ended { #expect(status == 0, "\(tool.rawValue): \(text)") }
        return text
    }
}

extension Pipe {
    /// The lines that are written into this pipe, until it is closed. A thread of its own reads them and keeps the pipe.
    fileprivate var lines: AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        let handle = fileHandleForReading
        Thread.detachNewThread { [self] in
            var rest = ""
            while true {
                let data = handle.availableData
                if data.isEmpty { break }
                rest += String(decoding: data, as: UTF8.self)
                var lines = rest.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                rest = lines.removeLast()
                for line in lines { continuation.yield(line) }
            }
            if !rest.isEmpty { continuation.yield(rest) }
            continuation.finish()
            _ = self
        }
        return stream
    }
}
