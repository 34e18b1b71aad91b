import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A token endpoint that rotates refresh tokens and notices reuse, as a process of its own. It keeps nine bytes an account.
///
/// Lines over a Unix socket: `NUMBER R a.n` asks for a refresh with the n-th refresh token of account a, `NUMBER A a.n` is a request with its access
/// token, `NUMBER S -` asks for the counts. With `NUMBER B -` the first access tokens begin to live: the accounts are stored.
final class TokenServer: Sendable {
    /// What the server has seen.
    struct Counts: Codable, Sendable {
        var refreshes = 0
        /// Refreshes whose access token had more than half of its life left: a second one for one expiry.
        var early = 0
        /// The newest used refresh token once more, while that is forgiven: the answer before was lost.
        var forgiven = 0
        /// An older one, or too late. A strict server ends the session here, and this one does.
        var reused = 0
        var requests = 0
        /// Requests with an access token that has expired.
        var refused = 0
        /// Access tokens that ended before their account was refreshed, those of accounts that still wait for it among them.
        var lapsed = 0
    }

    private struct State {
        var generation: [UInt32]
        var expiry: [Float]
        var isRevoked: [Bool]
        var counts = Counts()
        /// When the first access tokens began to live.
        var start: Double
    }

    private let life: Double
    private let forgiving: Double
    private let now: @Sendable () -> Double
    private let state: Mutex<State>

    /// - Parameters:
    ///   - life: of an access token, in seconds.
    ///   - forgiving: how long the newest used refresh token is answered again.
    ///   - isKept: whether keepers alone refresh the accounts.
    ///   - now: the time in seconds since 1970.
    init(
        accounts: Int, life: Double, forgiving: Double, isKept: Bool = false,
        now: @escaping @Sendable () -> Double = { Date().timeIntervalSince1970 }
    ) {
        self.life = life
        self.forgiving = forgiving
        self.now = now
        // As a service that has run for long: in each minute the same share expires.
        state = Mutex(
            State(
                generation: [UInt32](repeating: 0, count: accounts),
                expiry: (0..<accounts).map { Float(Self.firstLife(of: $0, life, isKept: isKept)) },
                isRevoked: [Bool](repeating: false, count: accounts), start: now()))
    }

    /// How long the first access token of an account lives from the verb `B` on, in seconds.
    ///
    /// Where keepers have run for long, no token is in the last quarter of its life: it was refreshed.
    static func firstLife(of account: Int, _ life: Double, isKept: Bool) -> Double {
        let part = Double((account &* 2_654_435_761) & 0xFFFF) / 65_536
        return life * (isKept ? 0.25 + 0.75 * part : part)
    }

    /// Answers until the process is killed.
    func serve(at path: String) throws {
        let listener = try UnixSocket.listen(at: path)
        say("ready")
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { continue }
            Thread.detachNewThread { self.serve(connection) }
        }
    }

    private func serve(_ connection: Int32) {
        var reader = LineReader(connection)
        while let lines = reader.next() {
            let answers = lines.map { line in
                let parts = line.split(separator: " ")
                guard parts.count >= 2 else { return "" }
                return "\(parts[0]) \(answer(parts[1], parts.count > 2 ? parts[2] : ""))\n"
            }
            UnixSocket.write(answers.joined(), to: connection)
        }
        close(connection)
    }

    func answer(_ verb: Substring, _ token: Substring) -> String {
        let time = now()
        if verb == "B" {
            state.withLock { $0.start = time }
            return "200"
        }
        if verb == "S" {
            let counts = state.withLock { state in
                var counts = state.counts
                let now = time - state.start
                counts.lapsed += state.expiry.count(where: { Double($0) < now })
                return counts
            }
            return (try? JSONEncoder().encode(counts)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        }
        let parts = token.split(separator: ".")
        guard parts.count == 2, let account = Int(parts[0]), let number = UInt32(parts[1]) else { return "400" }
        return state.withLock { state in
            guard state.generation.indices.contains(account), !state.isRevoked[account] else { return "400" }
            let (current, expiry) = (state.generation[account], Double(state.expiry[account]))
            let now = time - state.start
            if verb == "A" {
                state.counts.requests += 1
                // A token that was replaced lives to its end, as at most services.
                guard number == current && now < expiry + 1 || number + 1 == current else {
                    state.counts.refused += 1
                    return "401"
                }
                return "200"
            }
            if number == current {
                state.counts.refreshes += 1
                if expiry - now > life / 2, current > 0 { state.counts.early += 1 }
                if expiry < now { state.counts.lapsed += 1 }
                state.generation[account] = current + 1
                state.expiry[account] = Float(now + life)
            } else if current == number + 1, now - (expiry - life) < forgiving {
                state.counts.forgiven += 1
            } else {
                state.counts.reused += 1
                state.isRevoked[account] = true
                return "400"
            }
            let left = max(Int(Double(state.expiry[account]) - now), 1)
            return "200 \(account).\(state.generation[account]) \(left)"
        }
    }
}

/// A stream of lines.
struct LineReader {
    private let descriptor: Int32
    private var rest: [UInt8] = []

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The next lines that are complete; nil at the end.
    mutating func next() -> [String]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            rest += buffer[..<count]
            guard let end = rest.lastIndex(of: 10) else { continue }
            let lines = String(decoding: rest[..<end], as: UTF8.self).split(separator: "\n").map(String.init)
            rest = Array(rest[(end + 1)...])
            return lines
        }
    }
}

/// Sockets with names in the file system.
enum UnixSocket {
    struct Failure: Error {
        let what: String
    }

    static func listen(at path: String) throws -> Int32 {
        let descriptor = try open()
        guard bind(descriptor, path, Glibc.bind) == 0, Glibc.listen(descriptor, 64) == 0 else {
            throw Failure(what: "the socket \(path) cannot be made")
        }
        return descriptor
    }

    static func connect(to path: String) throws -> Int32 {
        let descriptor = try open()
        guard bind(descriptor, path, Glibc.connect) == 0 else {
            throw Failure(what: "the socket \(path) does not answer")
        }
        return descriptor
    }

    static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    private static func open() throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(what: "no socket is left") }
        return descriptor
    }

    private static func bind(
        _ descriptor: Int32, _ path: String, _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8.prefix(107)) + [0]) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// Prints a line immediately, also into a pipe.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

/// What several tasks change.
final class Guarded<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) { mutex = Mutex(value) }

    @discardableResult
    func withLock<Result: Sendable>(_ body: @Sendable (inout Value) throws -> Result) rethrows -> Result {
        try mutex.withLock { value in try body(&value) }
    }
}
