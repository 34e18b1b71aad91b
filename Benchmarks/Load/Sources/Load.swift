import Foundation
import Handshake
import OAuth
import PostgresVault
import Synchronization
import TestFixtures

#if canImport(Glibc)
import Glibc
#endif

/// Many processes, one PostgreSQL server and a service that rotates refresh tokens, some of which are killed all the time.
///
///     Benchmarks/Load/run [--accounts 100000] [--processes 1,2,4,10] [--seconds 60] [--life 600] [--kill 10] [--restarts 2] [--forgive 60]
///         [--cut 0] [--alone 0]
///     Benchmarks/Load/run --keepers 2 --accounts 20000 --life 120 --seconds 300
///     Benchmarks/Load/run --accounts 40 --processes 0 --life 0 --forgive 0   # the last look alone, which refreshes all of them
@main
struct Load {
    struct Options {
        var accounts = 100_000
        var processes = [1, 2, 4, 10]
        var seconds = 60.0
        var life = 600.0
        /// Seconds between two kills; 0 for none.
        var kill = 10.0
        var restarts = 2
        var forgive = 60.0
        /// The share of refreshes whose answer is lost on its way.
        var cut = 0.0
        /// Seconds in which one task of one process uses accounts, before the others; 0 for none.
        var alone = 0.0
        var keepers = 0
        var connections = 8

        init(_ arguments: [String]) throws {
            var rest = arguments[...]
            while let name = rest.popFirst() {
                guard let value = rest.popFirst() else { throw UnixSocket.Failure(what: "\(name) needs a value") }
                switch name {
                case "--accounts": accounts = Int(value) ?? accounts
                case "--processes": processes = value.split(separator: ",").compactMap { Int($0) }.filter { $0 > 0 }
                case "--seconds": seconds = Double(value) ?? seconds
                case "--life": life = Double(value) ?? life
                case "--kill": kill = Double(value) ?? kill
                case "--restarts": restarts = Int(value) ?? restarts
                case "--forgive": forgive = Double(value) ?? forgive
                case "--cut": cut = Double(value) ?? cut
                case "--alone": alone = Double(value) ?? alone
                case "--keepers": keepers = Int(value) ?? keepers
                case "--connections": connections = Int(value) ?? connections
                default: throw UnixSocket.Failure(what: "unknown option \(name)")
                }
            }
        }
    }

    static func main() async {
        do { try await run(CommandLine.arguments) } catch {
            FileHandle.standardError.write(Data("load-benchmark: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        if arguments.count == 3,
            let place = try? JSONDecoder().decode(LoadApp.Place.self, from: Data(arguments[2].utf8))
        {
            switch arguments[1] {
            case "worker": return try await LoadWorker.run(place)
            case "keeper": return try await LoadKeeper.run(place)
            default: break
            }
        }
        if arguments.count == 7, arguments[1] == "server", let accounts = Int(arguments[3]),
            let life = Double(arguments[4]), let forgive = Double(arguments[5]), let keepers = Int(arguments[6])
        {
            return try TokenServer(accounts: accounts, life: life, forgiving: forgive, isKept: keepers > 0)
                .serve(at: arguments[2])
        }
        exit(try await LoadRun(Options(Array(arguments.dropFirst()))).run())
    }
}
