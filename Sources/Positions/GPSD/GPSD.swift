import AsyncSupport
import Geofences

/// Positions of gpsd, by its JSON protocol over TCP.
///
/// Connects, asks for reports, and does both again when the daemon stops answering, also without closing the connection, with a
/// pause that doubles up to ``maximumPause``.
public struct GPSD: PositionSource {
    public let host: String
    public let port: UInt16
    /// The longest pause before the next attempt.
    public var maximumPause: Duration = .seconds(30)
    private let clock: any Clock<Duration>

    /// gpsd at its standard port.
    public static let standardPort: UInt16 = 2_947
    /// The longest line that is read, in bytes; gpsd's own limit is 10,240.
    static let maximumLineLength = 65_536
    /// After how many seconds without any byte the connection counts as lost.
    var maximumSilence = 30

    public init(host: String = "127.0.0.1", port: UInt16 = standardPort, clock: any Clock<Duration> = ContinuousClock())
    {
        self.host = host
        self.port = port
        self.clock = clock
    }

    /// Reads `HOST`, `HOST:PORT`, `[IPv6]` or `[IPv6]:PORT`.
    ///
    /// - Throws: ``PositionsError/address(_:)``.
    public init(address: String, clock: any Clock<Duration> = ContinuousClock()) throws(PositionsError) {
        var host = Substring(address)
        var port = Self.standardPort
        let colon = address.lastIndex(of: ":")
        let isBare = address.hasPrefix("[") ? address.hasSuffix("]") : address.filter { $0 == ":" }.count != 1
        if let colon, !isBare {
            guard let number = UInt16(address[address.index(after: colon)...]), number > 0 else {
                throw .address(address)
            }
            port = number
            host = address[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, host.utf8.count <= 255, host.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x5B })
        else {
            throw .address(address)
        }
        self.init(host: String(host), port: port, clock: clock)
    }

    public func updates() -> AsyncThrowingStream<PositionUpdate, any Error> {
        AsyncThrowingStream(reportedBy: run)
    }

    private var name: String { "gpsd at \(host):\(port)" }

    private func run(_ report: @escaping @Sendable (PositionUpdate) -> Void) async throws {
        let backOff = BackOff(first: .milliseconds(500), longest: maximumPause)
        var failures = 0
        while true {
            do {
                let lines = LineConnection(
                    host: host, port: port, request: Array("?WATCH={\"enable\":true,\"json\":true};\n".utf8),
                    question: Array("?VERSION;\n".utf8), maximumLineLength: Self.maximumLineLength,
                    maximumSilence: maximumSilence)
                for try await line in lines.lines() {
                    guard let update = try Self.update(of: line, source: name) else { continue }
                    // A daemon that greets and closes is asked less and less often.
                    if case .fix = update { failures = 0 }
                    report(update)
                }
                throw PositionsError.lost(source: name, reason: "it closed the connection")
            } catch let error as PositionsError {
                if case .protocolVersion = error { throw error }
                try Task.checkCancellation()
                report(.unavailable(error))
            }
            failures += 1
            try await clock.sleep(for: backOff.pause(afterFailures: failures))
        }
    }

    /// What a line means for the reader; nil for nothing.
    static func update(of line: [UInt8], source: String) throws(PositionsError) -> PositionUpdate? {
        let report: GPSDReport
        do { report = try GPSDReport(line) } catch {
            throw .lost(source: source, reason: "it sent something other than JSON")
        }
        switch report {
        case .version(let major):
            guard major == 3 else { throw .protocolVersion(major) }
            return nil
        case .devices(let count): return count == 0 ? .unavailable(.noReceiver) : nil
        case .device(let isActive): return isActive ? nil : .unavailable(.noReceiver)
        case .noFix: return .unavailable(.noFix)
        case .fix(let fix): return .fix(fix)
        case .other: return nil
        }
    }
}
