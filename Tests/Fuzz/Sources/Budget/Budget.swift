import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The time that a reader may take for its longest input: no more than grows with the length.
///
/// One input in 64 is swollen to that length by repeating a piece of it, and read again while the thread's processor time is
/// measured. A reading that takes long is compared with one of a quarter of the length. The slowest reading of each reader is
/// printed when the process ends.
///
/// Built with `TIMES`, nothing counts what a reader compares. Then every input is swollen in 64 ways, and no reading may take
/// longer than 50 ms, except where the time need only be linear.
public struct Budget: Sendable {
    /// The length of a swollen input, in bytes.
    public let length: Int
    /// Whether the time need only grow with the length: the README says of which readers, and why.
    public let isOnlyLinear: Bool

    public init(length: Int = 1_048_576, isOnlyLinear: Bool = false) {
        self.length = length
        self.isOnlyLinear = isOnlyLinear
    }

    #if !TIMES
    /// A reading of less is not compared, in seconds.
    private static let unquestioned = 0.300
    /// No reading takes longer, in seconds. The fuzzer counts every comparison, which makes a loop over bytes five to ten times as slow.
    private static let limit = 3.0
    /// What is linear takes four times as long for four times the length; what is quadratic, 16 times.
    private static let growth = 8.0
    #endif
    private static let slowest = Mutex<[UInt8: Double]>([:])

    #if TIMES
    /// No reading takes longer, in seconds.
    private static let wanted = 0.050

    /// Reads swollen forms of `content` and notes the longest time.
    ///
    /// - Parameter kind: the byte that selects the reader.
    public func check(_ kind: UInt8, _ content: [UInt8], _ read: ([UInt8]) -> Void) {
        guard !content.isEmpty, !isOnlyLinear else { return }
        for choice in 0..<UInt32(64) {
            let swollen = Self.swollen(content, to: length, by: Self.sum(of: content, choice) / 64)
            let time = Self.best(of: 5, below: Self.wanted / 4) { read(swollen) }
            Self.note(kind, time)
            if time > Self.wanted { print("\(time) s for \(swollen.count) bytes with", swollen.prefix(200)) }
        }
    }
    #else
    /// Reads a swollen form of `content` and checks the time, for one content in 64.
    ///
    /// - Parameter kind: the byte that selects the reader.
    public func check(_ kind: UInt8, _ content: [UInt8], _ read: ([UInt8]) -> Void) {
        let sum = Self.sum(of: content)
        guard sum % 64 == 0, !content.isEmpty else { return }
        let swollen = Self.swollen(content, to: length, by: sum / 64)
        var whole = Self.best(of: 3, below: Self.unquestioned) { read(swollen) }
        Self.note(kind, whole)
        guard whole > Self.unquestioned else { return }
        // One length can be refused immediately, for its padding, when another is not.
        let part = (0..<4).map { more in
            let quarter = Self.swollen(content, to: length / 4, with: more, by: sum / 64)
            return Self.best(of: 3) { read(quarter) }
        }.reduce(0, max)
        if whole > Self.growth * part { whole = min(whole, Self.best(of: 5) { read(swollen) }) }
        require(whole <= Self.growth * part, "\(swollen.count) bytes took \(whole) s, and a quarter of them \(part) s")
        require(whole <= Self.limit, "\(swollen.count) bytes took \(whole) s")
    }
    #endif

    /// A number that the content, and another number, decide.
    private static func sum(of content: [UInt8], _ start: UInt32 = 0) -> UInt32 {
        content.reduce(UInt32(2_166_136_261) ^ start) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }

    /// The shortest time of some readings: a pause of the machine is not the reader's.
    private static func best(of tries: Int, below enough: Double = 0, _ read: () -> Void) -> Double {
        var best = Double.infinity
        for _ in 0..<tries where best > enough {
            let start = processorTime()
            read()
            best = min(best, processorTime() - start)
        }
        return best
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
        #if TIMES
        if lines.contains(where: { $0.value > Self.wanted }) { _exit(1) }
        #endif
    }

    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The content with one piece of it repeated until it has the length, and some times more.
    private static func swollen(_ content: [UInt8], to length: Int, with more: Int = 0, by choice: UInt32) -> [UInt8] {
        let start = Int(choice) % content.count
        let piece = content[start..<start + 1 + Int(choice / 7) % min(16, content.count - start)]
        var output = Array(content[..<start])
        output.reserveCapacity(length + 4 * piece.count)
        while output.count + content.count < length { output += piece }
        for _ in 0..<more { output += piece }
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
