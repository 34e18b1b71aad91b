import Foundation

/// What the command line asks for.
struct Options: Sendable {
    var names: [String] = []
    var isJSON = false
    var lists = false
    /// The statically linked release build of `handshake`.
    var command: String?
    /// How many accounts the file vault holds.
    var accounts = 100_000
    /// A Python that has Authlib and joserfc.
    var python = "python3"
    /// Where benchmarks may write; removed at the end.
    var folder = ""

    static let usage =
        "usage: benchmarks [NAME …] [--json] [--list] [--command PATH] [--python PATH] [--accounts N] [--folder DIR]"

    init(_ arguments: some Sequence<String>) throws {
        var rest = Array(arguments)[...]
        func value(_ option: String) throws -> String {
            guard let value = rest.popFirst() else { throw Failure("\(option) needs a value\n\(Self.usage)") }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--json": isJSON = true
            case "--list": lists = true
            case "--command": command = try value(argument)
            case "--python": python = try value(argument)
            case "--folder": folder = try value(argument)
            case "--accounts":
                guard let count = Int(try value(argument)), count >= 1_000 else {
                    throw Failure("--accounts is a number from 1000")
                }
                accounts = count
            case _ where argument.hasPrefix("-"): throw Failure("\(argument) is unknown\n\(Self.usage)")
            default: names.append(argument)
            }
        }
    }
}

/// Something that keeps a benchmark from being run at all; a reach that is missed is none.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

@main
enum Benchmarks {
    static let all: [Benchmark] = [
        .authorizedRequest, .stampede, .redirects, .command, .fileVault, .sandboxStart, .fileLists, .chainBatch,
        .reportDownload, .advertisements, .ranging, .rollingIdentifiers, .peopleNearby, .activation, .webhooks,
        .routes, .crossings,
        .dpop, .keySet, .unknownKeys, .services, .peers,
    ]

    /// The longest that one benchmark may take, in seconds.
    private static let timeLimit = 900.0

    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        do {
            if let part = ChildPart(CommandLine.arguments) { return try await part.play() }
            try await run(Options(CommandLine.arguments.dropFirst()))
        } catch {
            note("\(error)")
            exit(1)
        }
    }

    private static func run(_ options: Options) async throws {
        if options.lists {
            for benchmark in all { print("\(benchmark.name): \(benchmark.summary)") }
            return
        }
        let chosen = all.filter { benchmark in
            options.names.isEmpty
                ? !benchmark.needsCommand || options.command != nil : options.names.contains(benchmark.name)
        }
        let unknown = Set(options.names).subtracting(chosen.map(\.name))
        guard unknown.isEmpty else {
            throw Failure("no benchmark is called \(unknown.sorted().joined(separator: ", "))")
        }
        note("load average at the start: \(loadAverage())")
        var rows: [[String: Any]] = []
        for benchmark in chosen {
            let folder = try TemporaryFolder(in: options.folder)
            defer { folder.remove() }
            var options = options
            options.folder = folder.path
            let watchdog = Watchdog(seconds: timeLimit, over: benchmark.name)
            let report = Report(benchmark: benchmark, figures: try await benchmark.run(options))
            watchdog.cancel()
            if options.isJSON { rows += report.json } else { print(report.text + "\n") }
        }
        if options.isJSON {
            let data = try JSONSerialization.data(
                withJSONObject: ["figures": rows], options: [.prettyPrinted, .sortedKeys])
            print(String(decoding: data, as: UTF8.self))
        }
        note("load average at the end: \(loadAverage())")
    }

    private static func loadAverage() -> String {
        var loads = [0.0, 0.0, 0.0]
        guard getloadavg(&loads, 3) == 3 else { return "unknown" }
        return loads.map { String(format: "%.2f", $0) }.joined(separator: " ")
    }
}

/// Progress and complaints, to standard error.
func note(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
}
