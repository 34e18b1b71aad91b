/// The client's side of the authentication by the credentials of the socket (D-Bus Specification, “Authentication
/// Protocol”, mechanism `EXTERNAL`).
///
/// `ANONYMOUS` is never offered, because an anonymous client could not own a session. File descriptors are not
/// negotiated.
struct Authentication {
    /// The action after receiving bytes.
    enum Step: Equatable {
        case wait
        case send([UInt8])
        /// The bus accepted the client: send this, then messages follow.
        case begin([UInt8], guid: String)
    }

    private var line: [UInt8] = []
    /// The maximum length of a line; the bus's own are below 100 bytes.
    private static let maximumLine = 4096

    /// The client's first bytes: a NUL byte that carries the credentials, and the user ID.
    static func opening(user: UInt32) -> [UInt8] {
        let digits = String(user).utf8.map { String($0, radix: 16) }.joined()
        return [0] + Array("AUTH EXTERNAL \(digits)\r\n".utf8)
    }

    /// Takes the next bytes from the bus.
    ///
    /// - Throws: ``DBusError/authentication(reason:)``
    mutating func receive(_ bytes: some Collection<UInt8>) throws(DBusError) -> Step {
        line.append(contentsOf: bytes)
        guard let end = line.firstIndex(of: UInt8(ascii: "\n")) else {
            guard line.count <= Self.maximumLine else { throw .authentication(reason: "its answer is too long") }
            return .wait
        }
        guard end > 0, line[end - 1] == UInt8(ascii: "\r"),
            let answer = String(validating: line[..<(end - 1)], as: UTF8.self)
        else { throw .authentication(reason: "its answer is not a line of text") }
        // After each line it is the client's turn: unrequested bytes violate the protocol.
        guard end == line.count - 1 else { throw .authentication(reason: "it sent data out of turn") }
        line = []
        return try step(answer)
    }

    private func step(_ answer: String) throws(DBusError) -> Step {
        let words = answer.split(separator: " ", omittingEmptySubsequences: false)
        switch words.first {
        case "OK":
            guard words.count == 2, words[1].utf8.count == 32 else {
                throw .authentication(reason: "its answer has no identifier: \(answer)")
            }
            return .begin(Array("BEGIN\r\n".utf8), guid: words[1].lowercased())
        case "DATA":
            return .send(Array("DATA\r\n".utf8))
        case "REJECTED":
            let offers = words.dropFirst().joined(separator: ", ")
            throw .authentication(reason: "it rejected this user; it offers \(offers)")
        default:
            throw .authentication(reason: "it answered \(answer)")
        }
    }
}
