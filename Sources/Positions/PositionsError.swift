import AsyncSupport

/// Why there is no position; each case says what to do.
public enum PositionsError: Error, Sendable, Hashable {
    /// Nothing answers at the daemon's address.
    case unreachable(source: String, reason: String)
    /// The daemon closed the connection, or its answer was not of its protocol.
    case lost(source: String, reason: String)
    /// The daemon has no receiver.
    case noReceiver
    /// The receiver does not know the position yet.
    case noFix
    /// A daemon that speaks another major version of the protocol.
    case protocolVersion(Int)
    /// An address that is not HOST or HOST:PORT.
    case address(String)
    /// A file that cannot be read as what it is said to be. Lines count from 1.
    case file(kind: String, line: Int, problem: String)
    /// A file without a single usable position.
    case noPositions(kind: String, reason: String)
    /// A file whose format was not given, and that is neither GPX nor NMEA.
    case unknownFormat
    /// A file that cannot be opened or read.
    case unreadable(path: String, reason: String)
    /// The user or the system does not allow positions. `reason` says where to allow them.
    case notAuthorized(reason: String)
}

extension PositionsError: CustomStringConvertible {
    /// A stable word for programs.
    public var code: String {
        switch self {
        case .unreachable: "position_source_unreachable"
        case .lost: "position_source_lost"
        case .noReceiver: "no_receiver"
        case .noFix: "no_fix"
        case .protocolVersion: "unsupported_protocol"
        case .address: "invalid_address"
        case .file: "invalid_track"
        case .noPositions, .unknownFormat: "no_positions"
        case .unreadable: "file_unreadable"
        case .notAuthorized: "location_not_authorized"
        }
    }

    /// What to do about a track without a usable position.
    package static let trackCure = "Use a track that was recorded with positions and times."

    /// What happened and what to do.
    public var description: String {
        switch self {
        case .unreachable(let source, let reason): "\(source) cannot be reached: \(reason.clause)."
        case .lost(let source, let reason): "The connection to \(source) ended (\(reason.clause)). Trying again."
        case .noReceiver: "gpsd has no receiver. Connect one, or start gpsd with its device."
        case .noFix: "The receiver has no position yet. Give it a view of the sky."
        case .protocolVersion(let major):
            "gpsd speaks version \(major) of its protocol. Install a gpsd that speaks version 3."
        case .address(let text): "\(text.quoted) is not an address. Use HOST or HOST:PORT."
        case .file(let kind, let line, let problem):
            "Line \(line) of the \(kind) file cannot be read: \(problem.clause). Repair or remove it."
        case .noPositions(let kind, let reason):
            "The \(kind) file has no usable position: \(reason.clause). \(Self.trackCure)"
        case .unknownFormat: "The file is neither GPX nor NMEA. Record the track in one of these formats."
        case .unreadable(let path, let reason):
            "\(path == "-" ? "Standard input" : path.quoted) cannot be read (\(reason)). Check that it exists and that you may read it."
        case .notAuthorized(let reason): "Location access is denied: \(reason.clause)."
        }
    }
}
