/// What can go wrong with beacons; each case says whose turn it is.
///
/// Frames from the air never throw: what cannot be understood is a ``Frame`` of its own kind. This is thrown where an app
/// builds, configures or reads a file.
public enum BeaconsError: Error, Sendable, Hashable {
    /// The structures do not fit into one advertisement (dossier 1). `count` and `limit` are bytes.
    case advertisingDataTooLong(count: Int, limit: Int)

    /// What the caller gave cannot be right. Nothing was built.
    case input(member: String, problem: String)

    /// A user number that the scheme of identifiers cannot carry (dossier 2.4).
    case userNumber(Int, most: Int)

    /// A layout that cannot be understood (dossier 4). `term` is the part at fault.
    case layout(term: String, problem: String)

    /// One line of a recording that cannot be understood (dossier 7.3). Lines count from 1.
    case recording(line: Int, problem: String)

    /// A key or seed of another length than it must have, in bytes.
    case keyLength(found: Int, expected: Int)

    /// A time that has no window of rolling identifiers: before 1970 or beyond 32 bits (dossier 8.4).
    case time(Timestamp)

    /// A rolling identifier of a period whose tokens were not prepared.
    case notPrepared(RollingWindow)
}

extension BeaconsError: CustomStringConvertible {
    /// A stable word for programs.
    public var code: String {
        switch self {
        case .advertisingDataTooLong: "advertising_data_too_long"
        case .input: "invalid_input"
        case .userNumber: "user_number_out_of_range"
        case .layout: "invalid_layout"
        case .recording: "invalid_recording"
        case .keyLength: "invalid_key_length"
        case .time: "time_out_of_range"
        case .notPrepared: "period_not_prepared"
        }
    }

    /// What happened, whose fault it is and what to do.
    public var description: String {
        switch self {
        case .advertisingDataTooLong(let count, let limit):
            "the advertisement would take \(count) bytes and \(limit) fit; leave a structure out"
        case .input(let member, let problem): "\(member): \(problem)"
        case .userNumber(let number, let most):
            "the user number \(number) cannot be sent; this scheme carries 1 to \(most)"
        case .layout(let term, let problem): "the layout cannot be used: \(term.quoted) \(problem)"
        case .recording(let line, let problem):
            "line \(line) of the recording cannot be read: \(problem); remove or repair the line"
        case .keyLength(let found, let expected):
            "a key of \(found) bytes cannot be used; it must have \(expected). Take it from where it was made"
        case .time(let time): "\(time) has no rolling identifier; set this machine's clock"
        case .notPrepared(let window):
            "the identifiers around window \(window.number) were not prepared; prepare the resolver for the present time"
        }
    }
}

extension String {
    /// The text in quotation marks, with everything but printable ASCII escaped, and shortened.
    var quoted: String {
        let most = 60
        let escaped = unicodeScalars.prefix(most).map { $0.escaped(asASCII: true) }.joined()
        return "\"" + escaped + (unicodeScalars.count > most ? "…" : "") + "\""
    }
}
