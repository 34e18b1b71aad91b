/// The client's side of the authentication by the credentials of the socket (D-Bus Specification, “Authentication
/// Protocol”, mechanism `EXTERNAL`).
///
/// `ANONYMOUS` is never offered: whoever could not be told from others would own no session. File descriptors are not
/// negotiated.
struct Authentication {
    /// What is to be done after some bytes came.
    enum Step: Equatable {
        case wait
        case send([UInt8])
        /// The bus let us in; send this, then messages follow.
        case begin([UInt8], guid: String)
    }

    private var line: [UInt8] = []
    /// The longest line that is waited for; the bus's own are below 100 bytes.
    private static let maximumLine = 4096

    /// What the client says first: a NUL byte that carries the credentials, and the user's number.
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
            guard line.count <= Self.maximumLine else { throw .authentication(reason: "its answer has no end") }
            return .wait
        }
        guard end > 0, line[end - 1] == UInt8(ascii: "\r"),
            let answer = String(validating: line[..<(end - 1)], as: UTF8.self)
        else { throw .authentication(reason: "its answer is not a line of text") }
        // It is the client's turn after each line: what follows unasked cannot be of this protocol.
        guard end == line.count - 1 else { throw .authentication(reason: "it spoke before it was asked") }
        line = []
        return try step(answer)
    }

    private func step(_ answer: String) throws(DBusError) -> Step {
        let words = answer.split(separator: " ", omittingEmptySubsequences: false)
        switch words.first {
        case "OK":
            guard words.count == 2, words[1].utf8.count == 32 else {
                throw .authentication(reason: "it gave no identifier: \(answer)")
            }
            return .begin(Array("BEGIN\r\n".utf8), guid: words[1].lowercased())
        case "DATA":
            return .send(Array("DATA\r\n".utf8))
        case "REJECTED":
            let offers = words.dropFirst().joined(separator: ", ")
            throw .authentication(reason: "it refused this user; it offers \(offers)")
        default:
            throw .authentication(reason: "it answered \(answer)")
        }
    }
}
