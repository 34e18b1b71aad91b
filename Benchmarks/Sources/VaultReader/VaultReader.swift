import Handshake
import VaultContents

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Opens a file vault, reads every record once in random order, and does nothing else: what it has resident is the vault's.
///
/// A program of its own, because a benchmark that brings a sandbox and Foundation along would weigh those too. Prints the seconds to
/// open, the reads a second, and the resident bytes before opening and at most.
@main
enum VaultReader {
    static func main() async throws {
        guard CommandLine.arguments.count == 3, let accounts = Int32(CommandLine.arguments[2]) else {
            print("usage: vault-reader FOLDER ACCOUNTS")
            exit(64)
        }
        let before = resident("VmRSS:")
        let clock = ContinuousClock()
        let start = clock.now
        let vault = try VaultContents.vault(in: CommandLine.arguments[1])
        let opened = start.duration(to: clock.now)
        // Four bytes a number: the order must not weigh more than what is measured.
        let order = (0..<accounts).shuffled()
        let time = try await clock.measure {
            for number in order {
                guard let contents = try await vault.record(VaultContents.key(Int(number))),
                    contents.count == VaultContents.length
                else { fatalError("record \(number) is missing") }
            }
        }
        print(opened / .seconds(1), Double(accounts) / (time / .seconds(1)), before, resident("VmHWM:"))
    }

    /// A line of what Linux says of this process's memory, in bytes; 0 elsewhere.
    private static func resident(_ name: String) -> Int {
        let file = open("/proc/self/status", O_RDONLY)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        let text = String(unsafeUninitializedCapacity: 8192) { max(0, read(file, $0.baseAddress, $0.count)) }
        let words = text.split { $0 == "\n" || $0 == "\t" || $0 == " " }
        guard let place = words.firstIndex(where: { $0 == name }), place + 1 < words.endIndex else { return 0 }
        return (Int(words[place + 1]) ?? 0) * 1024
    }
}
