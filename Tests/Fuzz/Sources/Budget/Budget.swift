import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The time that a reader may take for its longest input.
///
/// One input in 64 is swollen to that length by repeating a piece of it, and read again while the thread's processor time is
/// measured. The slowest reading of each reader is printed when the process ends.
public struct Budget: Sendable {
    /// The length of a swollen input, in bytes.
    public let length: Int

    public init(length: Int = 1_048_576) {
        self.length = length
    }

    /// In seconds: six times the 50 ms that a reader may take. The fuzzer counts every comparison, which makes a loop over bytes five to ten times as
    /// slow, and shares its core. What is not linear takes many seconds for a length of 1 MiB.
    private static let limit = 0.300
    private static let slowest = Mutex<[UInt8: Double]>([:])

    /// Reads a swollen form of `content` and checks the time, for one content in 64.
    ///
    /// - Parameter kind: the byte that selects the reader.
    public func check(_ kind: UInt8, _ content: [UInt8], _ read: ([UInt8]) -> Void) {
        let sum = content.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        guard sum % 64 == 0, !content.isEmpty else { return }
        let swollen = swollen(content, by: sum / 64)
        // A pause of the machine is not the reader's: the best of three counts.
        var best = Double.infinity
        for _ in 0..<3 where best > Self.limit {
            let start = Self.processorTime()
            read(swollen)
            best = min(best, Self.processorTime() - start)
        }
        Self.note(kind, best)
        require(best <= Self.limit, "\(swollen.count) bytes took \(best) s")
    }

    private static func note(_ kind: UInt8, _ seconds: Double) {
        let isFirst = slowest.withLock { slowest in
            defer { slowest[kind] = max(slowest[kind] ?? 0, seconds) }
            return slowest.isEmpty
        }
        if isFirst { atexit { Budget.report() } }
    }

    private static func report() {
        let lines = slowest.withLock { $0 }.sorted { $0.key < $1.key }
        for (kind, seconds) in lines {
            print("slowest \(Character(UnicodeScalar(kind))): \((seconds * 10_000).rounded() / 10) ms")
        }
    }

    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The content with one piece of it repeated until it has the length.
    private func swollen(_ content: [UInt8], by choice: UInt32) -> [UInt8] {
        let start = Int(choice) % content.count
        let piece = content[start..<start + 1 + Int(choice / 7) % min(16, content.count - start)]
        var output = Array(content[..<start])
        output.reserveCapacity(length + piece.count)
        while output.count + content.count < length { output += piece }
        return output + content[start...]
    }
}

/// Ends the process, which is how the fuzzer learns that something is wrong.
public func require(_ condition: Bool, _ rule: @autoclosure () -> String) {
    if !condition { fatalError(rule()) }
}

/// A value that is right by construction.
public func known<Value>(_ make: () throws -> Value) -> Value {
    do { return try make() } catch { fatalError("\(error)") }
}
