import AsyncSupport

/// The errors of this module.
///
/// Frames from the air never throw: malformed ones have a ``Frame`` case of their own. These errors are thrown to an app that
/// builds frames, configures ranging or reads a file.
public enum BeaconsError: Error, Sendable, Hashable {
    /// The structures do not fit into one advertisement (dossier 1). `count` and `limit` are bytes.
    case advertisingDataTooLong(count: Int, limit: Int)

    /// An argument is invalid. Nothing was built.
    case input(member: String, problem: String)

    /// A user number that the scheme cannot encode (dossier 2.4).
    case userNumber(Int, maximum: Int)

    /// A layout that cannot be parsed (dossier 4). `term` is the invalid part.
    case layout(term: String, problem: String)

    /// A line of a recording that cannot be parsed (dossier 7.3). Lines count from 1.
    case recording(line: Int, problem: String)

    /// A key or seed with the wrong length, in bytes.
    case keyLength(found: Int, expected: Int)

    /// A time without a window of rolling identifiers (dossier 8.4). It is before 1970 or beyond 32 bits.
    case time(Timestamp)

    /// The resolver was not prepared for this window.
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

    /// What happened and what to do.
    public var description: String {
        switch self {
        case .advertisingDataTooLong(let count, let limit):
            "The advertisement has \(count) bytes, more than the maximum of \(limit). Leave a structure out"
        case .input(let member, let problem): problem.sentence(about: member)
        case .userNumber(let number, let most):
            "The user number \(number) is out of range. Use a number from 1 to \(most)"
        case .layout(let term, let problem): "The layout is invalid: \(term.quoted) \(problem)"
        case .recording(let line, let problem):
            "Line \(line) of the recording cannot be read: \(problem). Remove or repair the line"
        case .keyLength(let found, let expected):
            "The key has \(found) bytes instead of \(expected). Copy it again from its source"
        case .time(let time): "At \(time) there is no rolling identifier. Set the date and time of this device"
        case .notPrepared(let window):
            "The resolver is not prepared for window \(window.number). Prepare it for the present time"
        }
    }
}
