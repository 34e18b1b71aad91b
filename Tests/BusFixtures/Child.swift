import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A program that a test started; it ends at the latest with this value.
package final class Child: Sendable {
    /// A program that did not do what its test needs.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// What the program prints on both outputs, line by line.
    package let lines: AsyncStream<String>
    private let process: Process
    private let ended: AsyncStream<Int32>

    package init(
        _ tool: Tool, _ arguments: [String], environment: [String: String] = [:], input: String? = nil
    ) throws {
        guard let path = tool.path else { throw Failure(description: "\(tool.rawValue) is not installed") }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ["LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"].merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        let feed = Pipe()
        process.standardInput = feed
        let (ended, ending) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { process in
            ending.yield(process.terminationStatus)
            ending.finish()
        }
        lines = output.lines
        self.process = process
        self.ended = ended
        try process.run()
        // Shorter than the pipe's buffer, so that this does not wait.
        try feed.fileHandleForWriting.write(contentsOf: Data((input ?? "").utf8))
        try feed.fileHandleForWriting.close()
    }

    deinit {
        end()
    }

    /// The first line; a program that prints none has failed.
    package func firstLine() async throws -> String {
        for await line in lines { return line }
        throw Failure(description: "the program printed nothing")
    }

    /// The output of a program that ends by itself, and its status.
    package func finish() async -> (output: String, status: Int32) {
        var output = ""
        for await line in lines { output += line + "\n" }
        for await status in ended { return (output, status) }
        return (output, -1)
    }

    /// Kills the program. It inherits the signals that the test's threads block: only this one is certain.
    package func end() {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// Kills the program and returns when it has ended.
    package func stop() async {
        end()
        for await _ in ended {}
    }
}

extension Pipe {
    /// The lines that are written into this pipe, until it is closed. A thread of its own reads them and keeps the pipe.
    fileprivate var lines: AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread { [self] in
            var rest = ""
            while true {
                let data = fileHandleForReading.availableData
                if data.isEmpty { break }
                rest += String(decoding: data, as: UTF8.self)
                var lines = rest.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                rest = lines.removeLast()
                for line in lines { continuation.yield(line) }
            }
            if !rest.isEmpty { continuation.yield(rest) }
            continuation.finish()
        }
        return stream
    }
}
