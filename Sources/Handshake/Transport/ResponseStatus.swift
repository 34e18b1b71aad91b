/// The status of a response, as a transport judges it before any library makes something of it.
///
/// AsyncHTTPClient stops the process at a status below 100, and HTTPTypes at one beyond 999.
enum ResponseStatus {
    /// Why a response with this status is not one that was asked for; nil for the others (RFC 9110, section 15).
    static func problem(with code: Int) -> String? {
        switch code {
        case 101: "it switches to a protocol that was not asked for (status 101)"
        case 100...599: nil
        default: "the status \(code) is not an HTTP status (100 to 599)"
        }
    }
}
